// Package replay makes tasks of a repository's own history, and has them done again.
//
// Concepts:
//
//   - A [Task] is a commit that changed code and tests. Its tests, laid over the commit's parent, fail, and
//     pass with the commit. Both were seen twice, in the sandbox. So it is known without a person whether an
//     attempt at it is right.
//   - [Mine] looks for tasks, newest commit first. Each commit that changed tests and code is a [Candidate];
//     its result is a [Verdict]. It stops at a budget and goes on where it stopped.
//   - A sieve is what a language can tell of commits by reading them: what can't be a task is passed over and no
//     candidate (sieve.go). That of Go compares declarations (gosieve.go) and checks tests against the types of their
//     module (gotypes.go); those of the others compare lines (linesieve.go). Nothing is run for it, and what it
//     computes is bounded.
//   - Both ends of a candidate are built and run at the same time, in two work trees of package testrun, which
//     runs tests by name: between two candidates only what differs is written, and the build caches stay. That
//     is where the seconds are.
//   - Tests that call what the commit adds don't build on its parent. They are left out and the others are
//     tried (verify.go): often some of them are about what the code did already. Of a Go file single declarations
//     are left out (choice.go, gotrim.go), else the whole file stays as the parent has it. Both ends and every
//     attempt have the same tests: a task says what is left out.
//   - A [Folder] keeps candidates, tasks and runs, so that a kill loses one candidate at most.
//   - A [Player] makes an attempt at a task as it would have been made then: the coder gets a work tree without
//     the history and without the tests.
//
// Everything that comes from a repository runs in the sandbox, without a network. Fetching what tests depend on
// is a step before, which reaches the registries and nothing else.
//
// The package may import gitops, agent, agent/testrun, sia and what lies below. It does not know the database: app says
// where issues come from. Start reading at task.go, then mine.go and verify.go.
package replay
