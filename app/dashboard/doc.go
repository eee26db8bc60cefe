// Package dashboard keeps an issue in each repository that wants one: what waits for people there, what is under way,
// what it costs, and boxes that give commands.
//
// The truth is on GitHub and in the tasks; the package keeps nothing. The issue is found by its marker and its author,
// is read before it is written, and is written where its text is another. A box that somebody ticks comes as a
// delivery (app/webhook), which has the issue written again, and so cleared. An issue that a person closed is left
// alone.
//
// The package may import app/store, app/github, app/render and what lies below them.
package dashboard
