// Package bandit learns which technique to try next. Each technique is tried at most
// once in a task, and fewer of them are free from attempt to attempt: a contextual
// bandit with sleeping arms (Kleinberg et al., 2010).
//
// Whoever decides puts a request to a [Learner], logs the decision before acting on it,
// and reports the outcome when checks have spoken:
//
//   - An [Outcome] is one technique tried on one diagnosed pattern, resolved or not.
//     Outcomes are counted in three scopes: the repository, the rest of its
//     organisation and the rest of the world. So none counts twice.
//   - What other installations saw may be given with a candidate, as so many outcomes more of the
//     rest of the world.
//   - A wider scope is the prior of the narrower one. The expert table of the
//     [Policy] is the prior of the widest. A posterior mean is a share of resolutions.
//   - A [Diagnosis] also carries the model's confidence in the techniques that
//     it rated. One rating is mostly noise, but its average over the diagnoses of
//     a pattern says something about techniques that nobody has tried. How much
//     either counts is learned, and ends at nothing where the model guesses.
//   - A [Decision] lists every option with its evidence and the exact probability
//     with which it was to be chosen. One in twenty is left to chance, so that
//     policies can be compared afterwards.
//
// A technique that is on trial is tried seldom, and never first in a task. Its outcomes decide whether it
// is kept or retired ([Learner.Trial]).
//
// Everything is a function of the outcomes in their order and of the request:
// replaying a log gives the same learner and the same decisions.
//
// Start reading at [Learner.Decide]. Package lab/synthetic measures the learner in
// an invented world.
package bandit
