// Package welcome proposes the first settings to a repository that the app was newly installed on: one pull
// request with a .sia/config.yml that says what was found, which people merge, change or close.
//
// It asks once, for ever. The pull request itself is what remembers that: as long as there was one of the branch
// sia/welcome, open or closed, there is no other, even where the database was lost or the app was installed anew.
// Whatever speaks against asking is a reason in words, which the store keeps with the repository's setup.
package welcome
