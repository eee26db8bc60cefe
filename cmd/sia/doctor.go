package main

// doctorGroup holds the checks of sia doctor. Without a subcommand, sia doctor checks a server.
type doctorGroup struct {
	Server doctorServerCmd `cmd:"" default:"withargs" help:"Check a server's configuration against the real endpoints (the default)." example:"sia doctor"`
	GitHub doctorGitHubCmd `cmd:"" name:"github" help:"Try in a scratch repository whether a GitHub does what SIA relies on." example:"sia doctor github --repo acme/scratch"`
	Models doctorModelsCmd `cmd:"" help:"Ask each model what an attempt asks it, and say what works." example:"sia doctor models"`
}
