// Package policies makes all decisions of SIA about coordinating its work: how a task is split, which coders make an
// attempt, what follows a failed one, when a person is asked, which technique is tried next.
//
//   - A [Policy] is data: a YAML file with the parameters and rules for one [Type] of
//     decision, and a [Selector] of the contexts in which it applies. Its id
//     has a hash of its content, so that a version never changes.
//   - A [Set] contains all policies of a repository, in layers: as shipped, the
//     owner's, the repository's own. [Set.For] returns the one in force for a [Context].
//   - A [Context] is the state on which a decision is based. It is logged with the
//     decision, so that the choice of another policy can be computed later.
//   - An [Answer] has every option with its score, the choice, the probability with which
//     it was chosen, and the reason.
//
// Everything here is a function of its arguments: nothing is read, written or stored. Learning is in packages bandit
// (techniques) and coder (coders). Their parameters are policies, too. Of this module, the package imports only base
// packages (sia/invalid, sia/text).
//
// Package mine analyses the log of decisions, and evolve judges a changed policy.
//
// Start reading at [Parse], then [Set.For] and [Escalate.Decide].
package policies
