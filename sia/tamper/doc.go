// Package tamper reads, by text, what a change does to what validates it: to tests and their data, to what configures
// checks, to workflows, to protected paths. It is the fallback where the tests can't be run, so it stays small: it
// counts. A [Change] is a file that differs between two commits, a [Finding] a line of it that asks somebody.
//
//   - A role says what the file at a path is to validation (role.go, path.go).
//   - Of tests (read.go), assertions and declarations are counted that are gone and did not come back anywhere in the
//     change, white space aside (tests.go). More gone than came ask a person, others the reviewer. So does what came
//     and keeps assertions from counting (came.go). says.go and lang.go have what lines say.
//   - Code that is tested must not ask whether it is (product.go).
//   - Of what configures and runs checks (settings.go, config.go, ci.go), a person is asked where a check or its
//     failing can go away, and of other upkeep the reviewer.
//
// Adding tests is free, but for what reaches into other tests. The package is pure, its effort is bounded by the text,
// and it is safe for concurrent use. It imports sia/glob and sia/lazyregexp. Start reading at [Find].
package tamper
