// Package coder chooses the coder, an agent with a model, that makes the next attempt at a task. It learns from the
// outcomes and costs of earlier attempts. It is independent of GitHub, databases and models.
//
//   - A task has an unknown difficulty, in one of a few classes. A coder has an ability.
//     Its probability of resolving the task depends only on the difference. So a
//     failure is evidence about the task, and thereby about all other coders.
//   - An [Outcome] is counted by the posterior of its task's difficulty, in four scopes:
//     everything, the kind of task, the organisation and the repository. A scope without
//     the part in the next one is the prior of the next, so that no outcome counts twice.
//   - The cost of an attempt is learned in the same way, separately for successes and failures.
//   - A [Decision] is the first coder of the sequence with the highest expected net
//     value, or to stop when no coder's cost per success is within the value. It lists
//     every option with its evidence and the exact probability with which it is
//     chosen.
//   - A [Table] has prior knowledge about models.
//
// Everything is a function of the outcomes in their order and of the request: replaying a log yields the same learner
// and the same decisions.
//
// Start reading at [Learner.Decide]. Package recorded, below, measures the learner on published recordings.
package coder
