// Package mine analyses the log of decisions: the effect of a choice, the contexts in which it does well or badly, and
// the estimated results of another policy.
//
//   - [Expected] returns the expected outcome of a decision regardless of the choice. Its
//     outcome minus that is its credit. [Options] averages the credit for each option, and compares
//     the option with the others over randomised decisions.
//   - [Look] finds contexts in which an option does better or worse than elsewhere, and
//     describes them in sentences. They are hypotheses.
//   - [Rank] estimates from randomised decisions how many would have been resolved with
//     another policy. It ranks policies and decides nothing.
//
// Every function depends only on its arguments. Of this module, the package imports only policies and base packages.
//
// Start reading at [Decision], then [Look].
package mine
