// Package improve applies improvements on disk and on GitHub. Package sia/improve decides what is
// improved and what is kept.
//
// Concepts:
//
//   - A [Place] is the folder .sia/improve of a project. One process at a time uses it.
//   - A [Subject] is the file to improve, as read from disk.
//   - An [Iteration] is a folder of a Place, named after its start time: a copy of the project in
//     which all changes are made, the original as a fallback, and the kept version.
//   - [Iteration.Promote] replaces the original with the kept version, unless somebody else changed
//     it meanwhile. At every moment the original's name refers to the complete old version or the
//     complete new one.
//   - [Place.Tidy] removes what killed processes left.
//   - The history is a file of JSON lines, one for each cycle.
//   - [SelfTest] and [Languages] run a command or a language's own parser on the copy, in the
//     sandbox.
//   - [InsideIteration] reports whether this process is itself part of an iteration, which must not
//     start another.
//   - [Proposal] opens a pull request with the kept versions.
//
// Start reading at place.go, then promote.go.
package improve
