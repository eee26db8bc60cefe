package sia

// CommitRules are a repository's requirements for commits that are merged into the base branch.
type CommitRules struct {
	Signed  bool `json:"signed,omitempty"`   // they carry a signature that GitHub verifies
	SignOff bool `json:"sign_off,omitempty"` // their messages have a line "Signed-off-by"
}
