// Package located measures how well package agent/locate finds the files that a fix changed.
//
// Concepts:
//
//   - A [Task] is a commit that changed code and tests. The question is, given its tests on top of its parent, which
//     files of code it changed. [Repository.Mine] finds tasks without running anything: the tests that the commit
//     changed stand for those that fail. [Repository.Verified] has those that lab/replay verified; their failing
//     tests are known.
//   - A [Repository] is a clone with its history. What a task's ranker knows of the past ends at its parent.
//   - [Coverage] runs the tests of a task and others near them, for what they cover, and keeps that.
//   - [Measure] ranks every task by each source alone and by all of them, with and without the commit's message, and
//     [LeaveOneOut] chooses weights on all repositories but one and measures them on that one.
//
// The message is optimistic: who fixed it wrote it. Figures without it are the ones to go by.
//
// The package may import gitops, agent/locate, agent/sandbox, agent/testrun, lab/replay and what lies below them. Start
// reading at task.go, then measure.go.
package located
