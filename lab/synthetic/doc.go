// Package synthetic measures in invented worlds what SIA learns and decides by.
//
// [Run] measures the learner of package bandit, by playing thousands of tasks with it and
// with simpler policies.
//
// In a [World], patterns of failure, techniques and repositories have true
// probabilities of success; diagnoses are sometimes wrong, tasks differ in
// difficulty, and a model has an opinion of every technique that is partly right.
// Every [Task] carries the outcome of each technique beforehand, so that all
// policies meet the same tasks and their differences are paired ([Run]).
//
// The figures are synthetic: they rank policies, and say nothing about how many
// tasks SIA resolves for anybody.
//
// [Policies] measures what packages mine and evolve do: how much of what is found in a log
// is chance, how well candidates are ranked, and how often and how late a changed policy is
// promoted, stopped and rolled back. Where the truth is drawn, it is known what is false.
//
// [Priors] measures what installations gain by what others share (package priors).
//
// It imports package policies and its subfolders only. Start reading at [Run] and
// [Policies].
package synthetic
