// Package settings reads the settings and policy files of repositories and of their owners, keeps the
// last good state of each, and reports on a commit what is wrong with the files that it brought.
//
// A repository's own `.sia/config.yml` counts, on its default branch. Where there is none, the one of the
// owner's `.github` repository does, and else the defaults. A task with another base branch works by the
// file that is there. A file that is wrong leaves the last good settings in force, with a warning for
// people. Policies, in `.sia/policies`, add up instead: those that ship, the owner's, the repository's own
// on its default branch; a file that is wrong keeps its own last good state.
//
// The package may import app/store, app/github, app/render and what lies below them. Start reading at
// [Files.Settings], then owner.go and policies.go.
package settings
