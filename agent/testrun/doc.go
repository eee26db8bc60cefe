// Package testrun runs a repository's tests by name, in the sandbox.
//
// Concepts:
//
//   - A [Language] defines which files are tests, how to run them, and how to parse the runner's output; one file each.
//   - A [Suite] is the script that runs some tests of a tree, group by group. A group is the unit of the runner: a
//     package or a file. The script marks the start and the end of each run with a token that tests can't guess.
//   - A [Coverer] is a language with line coverage for single tests ([Runner.Cover]).
//   - A [WorkTree] is a folder for the files of successive trees: only differences are written, and build caches stay.
//   - A [Runner] fetches the dependencies of tests, and runs suites. The result is a [Report]: tests by name and
//     [Outcome].
//
// All code of a repository runs in the sandbox, without a network. Dependencies are fetched in a separate step, which
// can reach only the registries.
//
// The package may import gitops, agent/sandbox, agent/locate and sia/*. Start reading at language.go, then runner.go.
package testrun
