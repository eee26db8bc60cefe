// Package tamper detects, by text alone, changes that weaken their own validation: changes of tests and their data, of
// the configuration of checks, of workflows and of protected paths. It is the fallback where the tests can't be run, so
// it stays simple. A [Change] is a file that differs between two commits, a [Finding] a line of it to be reviewed.
//
//   - A role is the part that a file has in validation, by its path (role.go, path.go).
//   - In tests (read.go), assertions and declarations are counted that were removed and not added again anywhere in
//     the change, white space aside (tests.go). If more were removed than added, a person is asked, else the reviewer.
//     Added lines that keep assertions from counting are findings, too (added.go), and those that put something else in
//     the place of what a test calls (fake.go). patterns.go and lang.go have the patterns.
//   - Code under test must not detect whether it is being tested (product.go).
//   - In files that configure and run checks (settings.go, config.go, ci.go), a person is asked where a check or its
//     failure may disappear, and the reviewer about other changes.
//
// Adding tests is always allowed, unless they affect other tests. The package is pure, its running time is bounded by
// the text, and it is safe for concurrent use. It imports sia/glob, sia/lazyregexp and sia/text.
// Start reading at [Find].
package tamper
