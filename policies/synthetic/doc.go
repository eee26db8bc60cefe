// Package synthetic measures the learner of package policies in an invented
// world, by playing thousands of tasks with it and with simpler policies.
//
// In a [World], patterns of failure, techniques and repositories have true
// probabilities of success; diagnoses are sometimes wrong, tasks differ in
// difficulty, and a model has an opinion of every technique that is partly right.
// Every [Task] carries the outcome of each technique beforehand, so that all
// policies meet the same tasks and their differences are paired ([Run]).
//
// The figures are synthetic: they rank policies, and say nothing about how many
// tasks SIA resolves for anybody. It imports package policies only. Start reading
// at [NewWorld] and [Run].
package synthetic
