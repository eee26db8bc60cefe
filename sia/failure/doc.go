// Package failure reads the log of a failing check: which lines explain the
// failure, what class it is, which tests failed, and a signature that is equal
// when the same failure happens again.
//
// Concepts, in the order in which a log meets them:
//
//   - A source is the log's text: unpacked, in UTF-8, and cut where it is damaged or too large
//     (unpack.go, codepage.go). A JUnit report is read as such (junit.go, clipxml.go).
//   - A line is cleaned of timestamps, colours and overwritten progress, and what the CI system
//     says with it is its frame: a step begins, a step has failed (clean.go, stamp.go, frame.go).
//   - A word has a weight of its own, and keywords say which rules may match; one pass of
//     package keyword finds both (words.go).
//   - A rule recognises where a tool begins to tell of a failure; its extent says how far that goes
//     on. Rules are data (rule.go, extent.go, rules_*.go); what tools that know nothing of one another
//     print alike is one rule (rules_general.go). Where none matches, lines with words that look like an
//     error count, and what stands right above the word that something has failed (reader.go,
//     above.go). A line that counts failures is such a word, and says not why (count.go).
//   - What no rule knows has a form nevertheless: stack frames and what is indented belong to the line
//     above, and what stands under a colon to the line that ends in it (extent.go). The paragraphs above the
//     end of a failed step count for where they stand (above.go). So a tool that this package was never
//     shown is read much like one that it was.
//   - A block is a run of lines that tells of one failure. Its rank is a sum of weights, fitted on
//     labelled logs: of its rule, its words and its surroundings, such as the failed step, a green log of
//     the job and annotations of the check (block.go, rank.go).
//   - Blocks of one kind make a place. The ranks say how likely each place is the right one. The excerpt is the
//     likeliest place, others until one of them is probably right, and one line of each further one until that
//     is likely: a log that is hard to read has more places (choose.go, spans.go, report.go).
//   - The class comes from the likeliest place shown whose rule or words name one, else from the verdict on the
//     step or from what it ran; a file that could not be loaded has the class of the reason (classify.go). It is
//     transient only where a transient failure ended the step (weather.go). The signature
//     comes from what it says with everything masked that varies from run to run (mask.go, signature.go).
//
// Logs are strangers' text. Reading is streaming, in memory that does not grow
// with the log (a few MiB), and in time linear in its length; regular expressions
// are RE2 and see a bounded part of a line. What a report quotes is valid UTF-8
// without control and bidirectional characters; it is not redacted.
//
// The package imports sia and sia/keyword, and is safe for concurrent use: the rules
// are built once and never change.
//
// Start reading at [Read] and reader.go.
package failure
