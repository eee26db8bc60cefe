// Package technique is the library of ways to try again: the ten techniques
// that ship with SIA, and those that a repository adds.
//
// Concepts:
//
//   - [Technique]: one Markdown file. Its front matter says which patterns of failure it answers,
//     and how well; its body is what the model gets; its changes are what is done to the next
//     attempt's brief.
//   - [Change]: a named transformation of a [sia.Brief] — steps, tools, files, examples, starting
//     commit. A technique that could not change the brief would depend on a model that heeds prose,
//     so every technique names one.
//   - [Library]: the techniques at hand. It ranks those that answer a pattern
//     ([Library.Candidates]), each with a reason that a person can read.
//   - [Apply]: carries a technique's changes out, from the failures, the touched files and a
//     repository that it reads through [Input].
//
// Everything here is deterministic: the same input gives the same ranking and
// the same brief. A Library is immutable and safe for concurrent use.
//
// The package imports only sia and sia/text. Files of a repository's own techniques
// are strangers' text: they are parsed strictly, never executed or expanded.
//
// Start reading at technique.go, then candidates.go and apply.go; the files
// under library/ are the techniques themselves.
package technique
