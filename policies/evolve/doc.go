// Package evolve is the arithmetic by which a changed policy is judged before, while and
// after it comes into force. It has no I/O: it gets the outcomes of tasks, and says what
// follows.
//
//   - A [Gate] judges a proposal by tasks that were played again with it.
//   - An [Experiment] compares the candidate with the present policy on new tasks. Each task
//     goes to one of the two by its [Assign].
//   - A [Guardrail] watches a policy that was promoted, and says when to roll back; [Blame] says
//     whether the change is to blame, by tasks that are [HeldBack] from it.
//
// Each may be looked at after every task. What they rest on is an e-value: money won by
// betting against "the change is no better", at fair odds. Whoever bets at fair odds
// multiplies the stake by t or more with a probability of at most 1/t, however long the play
// goes on (Ville 1939; Ramdas et al., "Game-theoretic statistics and safe anytime-valid
// inference", Statistical Science 38, 2023). So at E ≥ 20 at most one of twenty changes that
// are no better is promoted.
//
// These outcomes are all that a verdict depends on: the same outcomes in the same order give
// the same verdict, so a server that starts again replays its log. The types are not safe
// for concurrent use. The package imports nothing of ours.
//
// Start reading at [Experiment].
package evolve
