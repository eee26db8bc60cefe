// Package attempts tests SIA's assumptions on the recorded attempts of other people's coding agents: whether a further
// attempt resolves what earlier ones did not, whether a changed approach beats a repetition, after which
// class of failure, and whether learning the choice beats a fixed order.
//
// All data is real. There are three sources ([Source]): [Aider] is part of the package; [Rounds] and
// [CodeRover] are read from checkouts of public repositories, since no license allows including
// them.
//
// Limits: none of the agents was SIA, and none of their approaches is one of SIA's techniques. [Play]
// applies SIA's arithmetic to other changes of approach.
//
// It imports policies, policies/bandit and sia/failure only. Start reading at [Figures].
package attempts
