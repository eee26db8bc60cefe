// Package settings reads the settings files of repositories and of their owners, keeps the last good
// state of each, and reports on a commit what is wrong with the file that it brought.
//
// A repository's own `.sia/config.yml` counts, on its base branch. Where there is none, the one of the
// owner's `.github` repository does, and else the defaults. A file that is wrong leaves the last good
// settings in force, with a warning for people.
//
// The package may import app/store, app/github, app/render and what lies below them. Start reading at
// [Files.Settings], then owner.go.
package settings
