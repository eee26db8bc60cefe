package sia

// InForce are the settings in force in a repository, and where they come from.
type InForce struct {
	Settings
	// From is the file that they are from, for people; empty: there is none, and the defaults hold.
	From string
	// Warning tells people of a file that can't be used; empty: there is none.
	Warning string
}

// OwnersRepo is the name of the repository with the settings that hold in all repositories of its owner that
// have none of their own. It is a repository like any other: what stands in it is its own, and kept and
// reported as such.
const OwnersRepo = ".github"
