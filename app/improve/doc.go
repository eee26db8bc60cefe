// Package improve carries improvements out on a disk and on GitHub. What is improved, and what
// is kept, is decided by sia/improve; here lies what it works on.
//
// Concepts:
//
//   - A [Place] is the folder .sia/improve of a project. One process works in it at a time.
//   - A [Subject] is the file to improve, as it is on disk.
//   - An [Iteration] is a folder of a Place, named after when it began: a copy of the project in
//     which everything happens, the original as a fallback, and a record of how far it is.
//   - [Iteration.Promote] puts what was kept in the original's place. At every moment the
//     original's name is that of the old version or of the new one, both whole. A version that
//     somebody else wrote meanwhile is never lost.
//   - [Place.Tidy] finishes what a killed process began and says what it found.
//   - The history is a file of JSON lines, one for each cycle.
//   - [SelfTest] and [Languages] run a command or a language's own parser on the copy, in the
//     sandbox.
//   - [Inside] finds out whether this process is itself part of an iteration, which must not
//     start another.
//   - [Proposal] makes a pull request of what was kept.
//
// Start reading at place.go, then promote.go.
package improve
