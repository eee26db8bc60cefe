// Package synthetic measures SIA's learners and judges in simulated worlds.
//
// [Run] measures the learner of package bandit, by playing thousands of tasks with it and
// with simpler policies.
//
// In a [World], patterns of failure, techniques and repositories have true
// probabilities of success; diagnoses are sometimes wrong, tasks differ in
// difficulty, and a model has a partly right opinion of every technique.
// Every [Task] contains the outcome of each technique beforehand, so that all
// policies get the same tasks and their differences are paired ([Run]).
//
// The figures are synthetic: they rank policies, and say nothing about how many
// tasks SIA resolves for anybody.
//
// [Policies] measures packages mine and evolve: how many findings in a log are
// chance, how well candidates are ranked, and how often and how late a changed policy is
// promoted, stopped and rolled back. The truth is drawn, so false results are known.
//
// [Priors] measures what installations gain by others' shared counts (package priors).
//
// It imports package policies and its subfolders only. Start reading at [Run] and
// [Policies].
package synthetic
