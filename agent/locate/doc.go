// Package locate says where in a repository a fault is likely to lie: at most ten files, best first, with why, and
// the tests that reach them.
//
// Concepts:
//
//   - A [Query] is what is known of the fault: failing output, failing tests, the words of an issue.
//   - A [Tree] is the repository's files. The history is a list of [Commit], which says only which files changed
//     together. Both come from the caller: the package opens nothing.
//   - A [Source] is one way to guess, and votes for files in an order of its own ([Gather]). Seven do: files that
//     the output names (output.go); files of which failing tests run what passing ones run less, as the caller saw it
//     (coverage.go); files that changed together with the failing tests, the less the longer ago (past.go); the file
//     that a test is named after (names.go); the words of the failing tests and those of the issue, each by BM25
//     (tests.go, words.go, scan.go); and what the issue names outright, as a path or by a definition.
//   - The votes are joined by reciprocal rank ([Evidence.Rank]): a file's score is the sum, over the sources that vote
//     for it, of weight / (k + rank). So no source's scores have to be comparable with another's. See Cormack, Clarke
//     and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods", SIGIR 2009.
//     They use k = 60, for lists that are equally good; here a first rank tells much more than a third, and 5 is better
//     (docs/adr/0024-where-a-change-belongs.md).
//
// The flow: the tests that fail are found in the tree first, since their words are looked for. Then one pass reads
// the source files, the likeliest where there are too many, counts the words that are asked for, and notes which files
// hold the names that are asked for; only those are parsed for what they define.
//
// Everything is bounded: files, bytes, names, commits. The same input gives the same answer. Nothing is written, no
// network is used. Strangers' files are only read; no input makes it panic or slow.
//
// The package may import agent/tool/symbol, sia/failure, sia/tamper and what lies below them. Start reading at
// locate.go.
package locate
