// Package welcome proposes initial settings to a repository on which the app was newly installed. It opens one pull
// request with a .sia/config.yml that lists what was detected, for people to merge, change or close.
//
// It does so only once. The pull request itself is the record of that: while there is a pull request of the branch
// sia/welcome, open or closed, no other is opened, even if the database was lost or the app was installed again. A
// reason not to propose is stored with the repository's setup, in words.
package welcome
