// Package replay turns a repository's own history into tasks, and lets coders solve them again.
//
// Concepts:
//
//   - A [Task] is a commit that changed code and tests. Its tests fail on the commit's parent, and
//     pass with the commit, in two runs each, in the sandbox. So an attempt can be judged without a person.
//   - [Mine] searches for tasks, newest commit first. Each commit that changed tests and code is a [Candidate];
//     its result is a [Verdict]. It stops at a budget and continues where it stopped.
//   - A sieve filters commits by reading them: those that can't be tasks are skipped (sieve.go). Go's compares
//     declarations (gosieve.go) and checks tests against the types of their module (gotypes.go); the others
//     compare lines (linesieve.go). A sieve runs nothing, and its computation is limited.
//   - Both trees of a candidate, before and after the commit, are built and run at the same time, in two work trees
//     of package testrun, which runs tests by name. Between two candidates only differences are written, and the
//     build caches stay, since building takes most of the time.
//   - Tests that call what the commit adds don't build on its parent. They are removed and the others are
//     tried (verify.go): some of them often test existing behavior. In a Go file single declarations
//     are removed (choice.go, gotrim.go); otherwise the whole file stays as in the parent. Both trees and every
//     attempt have the same tests: a task lists what was removed.
//   - A [Folder] stores candidates, tasks and runs, so that a kill loses at most one candidate.
//   - A [Source] is the repository: a clone on this machine, or a repository of a server. It has the settings, the
//     policies, the history and the tasks.
//   - A [Player] makes an attempt at a task as of that commit: the coder gets a work tree without
//     the history and without the tests.
//
// Everything from a repository runs in the sandbox, without a network. An earlier step fetches the dependencies of
// tests, and reaches only the registries.
//
// The package may import gitops, agent, agent/testrun, policies, sia, sia/config and what they import. It does not use
// the database: app provides a server's repository ([Server]). Start reading at task.go, then mine.go and verify.go.
package replay
