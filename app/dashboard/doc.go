// Package dashboard maintains an issue in each repository with the dashboard enabled. It lists what waits for people,
// what is in progress and what it costs, and has boxes that give commands.
//
// The package stores only the number: the data is on GitHub and in the tasks. An issue whose number is unknown
// is found by its marker and its author. It is read before it is written, and is written only if its text differs.
// Ticking a box causes a delivery (app/webhook), after which the issue is written again, with the box unticked. An
// issue that a user closed is left alone.
//
// The package may import app/store, app/github, app/render and the packages below them.
package dashboard
