// Package locate estimates where in a repository a fault is: at most ten files, best first, with reasons, and the tests
// that reach them.
//
// Concepts:
//
//   - A [Query] is what is known about the fault: failing output, failing tests, the text of an issue.
//   - A [Tree] is the repository's files. The history is a list of [Commit], which lists only the files that changed
//     together. The caller provides both: the package opens no files.
//   - A [Source] is one heuristic. It votes for files in an order of its own ([Gather]). There are seven: files named
//     in the output (output.go); files that failing tests execute and passing ones execute less, as measured by the
//     caller (coverage.go); files that changed together with the failing tests, weighted by age (past.go); the file
//     that a test is named after (names.go); the words of the failing tests and those of the issue, each by BM25
//     (tests.go, words.go, scan.go); and files that the issue names, as a path or by a definition.
//   - The votes are combined by reciprocal rank ([Evidence.Rank]): a file's score is the sum, over the sources that
//     vote for it, of weight / (k + rank). So scores of different sources need not be comparable. See Cormack, Clarke
//     and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods", SIGIR 2009.
//     They use k = 60, for lists that are equally good; here a first rank is much better than a third, and 5 works
//     better (docs/adr/0024-where-a-change-belongs.md).
//
// First, the failing tests are found in the tree, since their words are part of the search. Then one pass reads the
// source files, the most probable ones if there are too many. It counts the words of the query, and records which files
// contain its names; only those are parsed for their definitions.
//
// All inputs are limited: files, bytes, names, commits. The same input gives the same answer. Nothing is written, and
// no network is used. Files are untrusted and only read; no input causes a panic or excessive time.
//
// The package may import agent/tool/symbol, sia/failure, sia/tamper and the packages below them. Start reading at
// locate.go.
package locate
