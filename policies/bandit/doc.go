// Package bandit learns which technique to try next. Each technique is tried at most once in a task, so fewer of them
// are available at each attempt: a contextual bandit with sleeping arms (Kleinberg et al., 2010).
//
// The caller sends a request to a [Learner], logs the decision before acting on it, and reports the outcome when the
// checks have completed:
//
//   - An [Outcome] is one technique tried on one diagnosed pattern, resolved or not.
//     Outcomes are counted in three scopes: the repository, the rest of its
//     organisation and the rest of the world, so that none counts twice.
//   - Outcomes from other installations may be given with a candidate. They count as outcomes of
//     the rest of the world.
//   - A wider scope is the prior of the narrower one. The expert table of the
//     [Policy] is the prior of the widest. A posterior mean is a share of resolutions.
//   - A [Diagnosis] also carries the model's confidence in the techniques that
//     it rated. One rating is mostly noise, but its average over the diagnoses of
//     a pattern is informative about untried techniques. The weights of both are
//     learned, and go to zero where the model guesses.
//   - A [Decision] lists every option with its evidence and the exact probability
//     with which it is chosen. One in twenty is randomised, so that
//     policies can be compared afterwards.
//
// A technique on trial is tried rarely, and never first in a task. Its outcomes decide whether it is kept or retired
// ([Learner.Trial]).
//
// Everything is a function of the outcomes in their order and of the request: replaying a log yields the same learner
// and the same decisions.
//
// Start reading at [Learner.Decide]. Package lab/synthetic measures the learner in a synthetic world.
package bandit
