// Package gate judges the checks of one commit: whether the task passes, fails,
// waits, or has to have a check run again — and why.
//
// Concepts:
//
//   - A check is a check run or a legacy commit status. Of several with one name
//     the newest counts; check runs of different apps are different checks.
//   - A check is required when the branch's rules or the settings name it, or,
//     where neither names any, because it ran.
//   - Some red is not the attempt's doing: red on the base commit too (excused),
//     red and green on one commit (flaky: run again, and excused in the end), or
//     weather, such as a rate limit or a lost runner (run again). Together they are
//     run again at most [MaxReruns] times a commit.
//   - Other red may be chance: red checks are run again once where the chance that
//     a right attempt failed by accident, learned from how often the check went red
//     and green on one commit, is worth what the re-run costs ([Doubt]).
//   - A verdict waits until every required check has finished and nothing has
//     changed for the settle time, because checks are created late.
//   - A green verdict must not be bought: what a change does to tests, to what
//     configures checks and to protected paths is found by [Tampering], and a
//     person has to accept it.
//
// The rules are section 1.5 of the product document. The package is pure: time
// comes in with [Input], nothing is read or written, and one input always gives
// one [Result]. It imports package sia, and doublestar for globs. Safe for
// concurrent use.
//
// Start reading at [Judge]; for changes of tests at [Tampering], then
// tamper_compare.go.
package gate
