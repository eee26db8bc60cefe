// Package evolve contains the statistics by which a changed policy is judged before, during and after its introduction.
// It has no I/O: it gets the outcomes of tasks and returns verdicts.
//
//   - A [Gate] judges a proposal by tasks that were replayed with it.
//   - An [Experiment] compares the candidate with the present policy on new tasks. [Assign]
//     assigns each task to one of the two.
//   - A [Guardrail] watches a promoted policy and decides when to roll back; [Blame] decides
//     whether the change is the cause, by tasks that are [HeldBack] from it.
//
// Each may be evaluated after every task. They are based on e-values: the capital won by betting against "the change is
// no better" at fair odds. At fair odds the probability of ever multiplying the capital by t is at most 1/t (Ville
// 1939; Ramdas et al., "Game-theoretic statistics and safe anytime-valid inference", Statistical Science 38, 2023). So
// at E ≥ 20 at most one of twenty changes that are no better is promoted.
//
// A verdict depends only on the outcomes: the same outcomes in the same order yield the same verdict, so a restarted
// server replays its log. The types are not safe for concurrent use. The package imports no package of this module.
//
// Start reading at [Experiment].
package evolve
