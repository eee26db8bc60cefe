// Package settings reads the settings and policy files of repositories and of their owners, stores the last valid
// version of each, and reports errors in them on the commits that introduced them.
//
// The settings of a repository are those in the `.sia/config.yml` of its default branch. If it has none, the file of
// the owner's `.github` repository applies, or else the defaults. A task with another base branch uses the file on
// that branch. If a file is invalid, the last valid settings stay in force, with a warning for people. Policies, in
// `.sia/policies`, add up instead: the built-in ones, the owner's, and those on the repository's default branch. An
// invalid policy file is replaced by its own last valid version.
//
// The package may import app/store, app/github, app/render and the packages below them. Start reading at
// [Files.Settings], then owner.go and policies.go.
package settings
