// Package technique is the library of techniques for the next attempt: the ten built-in ones, and those that a
// repository adds.
//
// Concepts:
//
//   - [Technique]: one Markdown file. Its front matter lists the patterns of failure that it answers,
//     with ranks; its body is the text for the model; its changes modify the next attempt's brief.
//   - [Change]: a named transformation of a [sia.Brief] — steps, tools, files, examples, starting
//     commit. Every technique has at least one, so that its effect does not depend on the model
//     following prose.
//   - [Library]: the available techniques. It ranks those that answer a pattern
//     ([Library.Candidates]), each with a readable reason.
//   - [Apply]: applies a technique's changes, given the failures, the touched files and a
//     repository that it reads through [Input].
//
// Everything here is deterministic: the same input yields the same ranking and the same brief. A Library is immutable
// and safe for concurrent use.
//
// The package imports only sia and sia/text. Files of a repository's own techniques are untrusted text: they are parsed
// strictly, never executed or expanded.
//
// Start reading at technique.go, then candidates.go and apply.go; the files
// under library/ are the techniques themselves.
package technique
