// Package located measures how well package agent/locate finds the files that a fix changed.
//
// Concepts:
//
//   - A [Task] is a commit that changed code and tests. The question is, given its tests on top of its parent, which
//     files of code it changed. [Repository.Mine] finds tasks without running anything: changed tests
//     count as failing. [Repository.Verified] returns those that lab/replay verified; their failing
//     tests are known.
//   - A [Repository] is a clone with its history. A task's ranker sees the history up to its parent.
//   - [Coverage] runs the tests of a task and others near them, and stores their coverage.
//   - [Measure] ranks every task by each source alone and by all of them, with and without the commit's message, and
//     [LeaveOneOut] chooses weights on all repositories but one and measures them on that one.
//
// The message is optimistic: the author of the fix wrote it. Use the figures without it.
//
// The package may import gitops, agent/locate, agent/sandbox, agent/testrun, lab/replay and what lies below them. Start
// reading at task.go, then measure.go.
package located
