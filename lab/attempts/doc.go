// Package attempts asks the recorded attempts of other people's coding agents what SIA rests on: whether a further
// attempt resolves what the ones before did not, whether a changed approach beats the same one again, after which
// class of failure, and whether learning which to take beats a fixed order.
//
// Nothing in it is invented. There are three sources ([Source]): [Aider] is part of the package, [Rounds] and
// [CodeRover] are read from checkouts of public repositories that are not part of it, since they have no licence that
// allows it.
//
// What it can't say: none of the agents was SIA, and none of their approaches is one of SIA's techniques. What is
// played is SIA's arithmetic on other changes of approach ([Play]).
//
// It imports policies, policies/bandit and sia/failure only. Start reading at [Figures].
package attempts
