// Package policies is the one door through which SIA decides how it coordinates its
// work: how a task is taken apart, which coders make an attempt, what follows one that
// failed, when a person is asked, which technique is tried next.
//
//   - A [Policy] is data: a YAML file that says for one [Type] of decision by which
//     parameters and rules it is made, and by its [Selector] for which contexts. Its id
//     has a hash of its content, so that a version never changes.
//   - A [Set] is every policy that may hold in a repository, in layers: as shipped, the
//     owner's, the repository's own. [Set.For] is the one in force for a [Context].
//   - A [Context] is the snapshot that a decision is made in. It is logged with the
//     decision: put to another policy, it says what that one would have chosen.
//   - An [Answer] has every option with its score, the choice, the probability with which
//     it was to be chosen, and the reason in words.
//
// Everything here is a function of its arguments: nothing is read, written or remembered.
// What is learned lives in packages bandit (techniques) and coder (who works). Their
// parameters are policies too. The package imports nothing of ours but what lies on the
// ground (sia/invalid, sia/text).
//
// Package mine reads what the log of decisions teaches, and evolve judges a changed policy.
//
// Start reading at [Parse], then [Set.For] and [Escalate.Decide].
package policies
