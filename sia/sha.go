package sia

// SHA names a commit: 40 hexadecimal digits, or 64. Git and GitHub's adapters take and
// give plain strings; what the domain knows of a commit is a SHA. Empty: no commit.
type SHA string

// Short is the first seven digits, for people.
func (s SHA) Short() string { return string(s[:min(len(s), 7)]) }
