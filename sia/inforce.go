package sia

// InForce contains the settings in force in a repository, and their source.
type InForce struct {
	Settings
	// From is the file that they were read from, for people; empty: the defaults.
	From string
	// Warning is, for people, about a file that can't be used; empty: none.
	Warning string
}

// OwnersRepo is the name of the repository with the default settings for all repositories of its owner that
// have none of their own. In every other respect it is handled like any repository.
const OwnersRepo = ".github"
