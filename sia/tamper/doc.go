// Package tamper finds what a change does to what validates it: to tests and
// their data, to what configures checks, to workflows, to protected paths. Green
// checks that were bought that way say nothing, so a person has to accept it.
//
// Concepts:
//
//   - A [Change] is one file that differs between two commits; a change set is
//     all of them. Its two sides are the file before and after.
//   - A role says what the file at a path is to validation (role.go). Of
//     expected output and protected paths, any change is reported (path.go), of
//     workflows (workflow.go) any that is not surely the same run (run.go). Of what
//     configures checks, the lines that choose tests, set thresholds or quieten
//     linters are (config.go).
//   - A scope is a test, a group of tests or the whole file (side.go). What it
//     says is a list of claims, each with a weight (claim.go, weight.go), and a
//     mark is what keeps it from running (mark.go) or turns off a check (hush.go).
//   - Old scopes are paired with new ones by what they say, their name and their
//     place (pair.go), then old claims with new ones (match.go). What has no pair
//     was deleted, and what says less than its pair was loosened, unless as much
//     is said in its place (settle.go, weaker.go).
//   - A [Finding] is one line of a change that lessens what the checks say, or
//     changes it. It asks a person, or first a reviewer.
//
// Adding tests is free. A test that is deleted here and added elsewhere has
// moved. Reading is by lines and tokens (scan.go), by the names of calls (name.go)
// and by a table of regular expressions for each language (lang.go), not by a
// compiler. It errs towards
// reporting, because a person who looks at a harmless line loses a minute, and
// nobody looks at one that is not reported.
//
// The package is pure: one change set always gives the same findings. Text is
// strangers', so effort is bounded, and what was not compared is reported. It
// imports sia/glob, sia/visible and sia/lazyregexp, and nothing else of ours. Safe for concurrent use.
//
// Start reading at [Find], then compare.go.
package tamper
