package sia

// SHA is the hash of a commit: 40 or 64 hexadecimal digits; empty: no commit. The adapters
// of git and GitHub use plain strings; the domain uses SHA.
type SHA string

// Short returns the first seven digits, for people.
func (s SHA) Short() string { return string(s[:min(len(s), 7)]) }
