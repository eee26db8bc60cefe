// Package coder decides who makes the next attempt at a task: which coder, an agent
// with a model. It learns that from the outcomes and costs of earlier attempts.
// It knows nothing of GitHub, databases or models, and imports nothing of ours but
// the table that ships.
//
//   - A task has a difficulty that nobody knows, in one of a few classes. A coder has
//     an ability. Its chance to resolve the task depends on the difference alone. So a
//     failure says something about the task, and by that about all other coders.
//   - An [Outcome] is counted by the posterior of its task's difficulty, in four scopes:
//     everything, the kind of task, the organisation and the repository. What a scope says,
//     without what the next one has, is the prior of the next; so none counts twice.
//   - What an attempt costs is learned in the same way, successes apart from failures.
//   - A [Decision] is the first coder of the sequence with the highest expected net
//     value, or to stop: when nobody's cost per success is within the value. It lists
//     every option with its evidence and the exact probability with which it was to be
//     chosen.
//   - A [Table] says what is known of models before anything was seen.
//
// Everything is a function of the outcomes in their order and of the request:
// replaying a log gives the same learner and the same decisions.
//
// Start reading at [Learner.Decide]. Package recorded, below, measures the
// learner on what other people recorded.
package coder
