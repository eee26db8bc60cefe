// Package mine reads the log of decisions: the effect of a choice, where it does well or
// badly, and how another policy would have done.
//
//   - [Expected] is what was to be expected of a decision whatever was chosen. Its outcome
//     less that is its credit. [Options] sums the credit up for each option, and compares
//     the option with the others where chance had a part in the choice.
//   - [Look] looks for contexts in which an option does better or worse than elsewhere, and
//     says what stands out as sentences for people. They are hypotheses.
//   - [Rank] estimates from randomised decisions how many would have been resolved by
//     another policy. It ranks policies and decides nothing.
//
// Every function depends on its arguments alone. The package imports nothing of ours but
// policies and what lies on the ground.
//
// Start reading at [Decision], then [Look].
package mine
