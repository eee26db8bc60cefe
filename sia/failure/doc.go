// Package failure reads the log of a failing check: which lines explain the failure, what class it is, which tests
// failed, and a signature that is equal when the same failure occurs again.
//
// Concepts, in the order in which a log is processed:
//
//   - A source is the log's text: unpacked, in UTF-8, and cut where it is damaged or too large
//     (unpack.go). A JUnit report is read by package junit instead (junit.go).
//   - A line is stripped of timestamps, colours and overwritten progress. Its frame is its meaning to the
//     CI system: a step begins, a step has failed (clean.go, stamp.go, frame.go).
//   - A word has a score of its own, and keywords select the rules that may match; one pass of
//     package keyword finds both (words.go).
//   - A rule recognises the line where a tool begins to report a failure; its extent decides which of the
//     following lines belong to it. Rules are data (rule.go, extent.go, rules_*.go). Formats that unrelated
//     tools share are one rule (rules_general.go). Where none matches, lines with words that look like an
//     error count, and the paragraph right above a message that something has failed (reader.go,
//     above.go). A line that counts failures is such a message, not an explanation (count.go).
//   - Output that no rule covers still has a form: stack frames and indented lines belong to the line
//     above, and the lines under a colon to the line that ends in it (extent.go). The paragraphs above the
//     end of a failed step count because of their position (above.go). So the output of an unknown tool
//     is read much like that of a known one.
//   - A block is a run of lines about one failure. Its rank is a sum of weights, fitted on
//     labelled logs: of its rule, its words and its surroundings, such as the failed step, a green log of
//     the job and annotations of the check (block.go, rank.go).
//   - Blocks of one kind form a place. The ranks give the probability that a place is the right one. The
//     excerpt is the likeliest place, others until one of them is probably right, and one line of each further
//     one until that is nearly certain: a log that is hard to read has more places (choose.go, spans.go, report.go).
//   - The class comes from the likeliest shown place with a rule or words that name one, else from the result
//     of the step or its commands; a file that could not be loaded has the class of the reason (classify.go).
//     It is transient only where a transient failure ended the step (transient.go). The signature is a hash
//     of the place's text with everything masked that varies from run to run (mask.go, signature.go).
//
// Logs are untrusted text. Reading is streaming, in memory that does not grow with the log (a few MiB), and in time
// linear in its length; regular expressions are RE2 and see a bounded part of a line. Text quoted in a report is valid
// UTF-8 without control and bidirectional characters; it is not redacted.
//
// The package imports sia, sia/junit, sia/keyword and sia/view, and is safe for concurrent use: the rules
// are built once and never change.
//
// Start reading at [Read] and reader.go.
package failure
