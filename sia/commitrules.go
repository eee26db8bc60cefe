package sia

// CommitRules are a repository's requirements for commits that are merged into the base branch, and the other
// requirements of its classic protection, which GitHub tells in the same answer.
type CommitRules struct {
	Signed        bool `json:"signed,omitempty"`         // they carry a signature that GitHub verifies
	SignOff       bool `json:"sign_off,omitempty"`       // their messages have a line "Signed-off-by"
	LinearHistory bool `json:"linear_history,omitempty"` // classic protection forbids merge commits
	Conversations bool `json:"conversations,omitempty"`  // it requires resolved conversations on the pull request
}
