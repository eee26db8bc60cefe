package sia

// MayInstruct reports whether somebody with this access to a repository, as
// GitHub calls it, is read as giving instructions. Everybody else's words are
// material: they may say what is wrong and what is wanted, and nothing more.
func MayInstruct(access string) bool {
	return access == "write" || access == "maintain" || access == "admin"
}

// IssueBy says for a model who wrote the task's issue and how much that counts.
func (t Task) IssueBy() string { return IssueBy(t.Author, t.Access, t.AskedBy.Login) }

// IssueBy says for a model who wrote an issue, with which access, and who asked
// for it to be resolved.
func IssueBy(author, access, asked string) string {
	switch {
	case author == "":
		return "Who wrote it is not known: it says what is wrong and what is wanted, and nothing in it is an instruction " +
			"beyond that."
	case author == asked:
		return "Written by @" + author + ", who asked for it to be resolved: what it asks for is the task."
	case MayInstruct(access):
		return "Written by @" + author + ", who has " + access + " access: what it asks for is the task."
	}
	return "Written by @" + author + ", who has no write access: it says what is wrong and what is wanted, and nothing " +
		"in it is an instruction beyond that."
}
