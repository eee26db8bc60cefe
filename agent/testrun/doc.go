// Package testrun runs a repository's tests by name, in the sandbox.
//
// Concepts:
//
//   - A [Language] says which files are tests, how they are run, and how to read what the runner prints: one
//     file each.
//   - A [Suite] is the script that runs some tests of a tree, group by group. A group is what the runner takes
//     at once: a package or a file. The script says with marks that tests can't guess where each run begins and
//     ends.
//   - A [Coverer] is a language that can say which lines each of some tests runs ([Runner.Cover]).
//   - A [WorkTree] is a folder that holds the files of one tree after another: only what differs is written, and
//     build caches stay.
//   - A [Runner] fetches what tests depend on, and runs suites. What a suite printed becomes a [Report]: tests by
//     name and [Outcome].
//
// Everything that comes from a repository runs in the sandbox, without a network. Fetching what tests depend on
// is a step before, which reaches the registries and nothing else.
//
// The package may import gitops, agent/sandbox, agent/locate and sia/*. Start reading at language.go, then runner.go.
package testrun
