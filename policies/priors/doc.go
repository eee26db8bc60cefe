// Package priors lets installations learn from one another without revealing anything about a task: it counts outcomes,
// adds noise to the counts before they are shared, and aggregates the counts of many installations.
//
//   - A [Cell] identifies a count. [Cells] is the public list of all of them; nothing
//     else leaves an installation.
//   - [Count] counts outcomes. Of each task the first technique and the first coder count, each
//     once, so that a task changes at most two counts by one.
//   - [Counts.Blur] adds noise to every count of the list, including zero counts. It is the
//     two-sided geometric mechanism, which makes the shared counts ε-differentially private for a
//     task, with ε = [Epsilon].
//   - A [Report] contains the shared counts of an installation for one period; [Aggregate] makes
//     [Priors] from the reports of many. Both are readable JSON in a canonical form, signed
//     as a note (golang.org/x/mod/sumdb/note).
//   - [Priors.Technique] and [Priors.Coder] return the weight of others' outcomes for a decision,
//     in outcomes: at most 240 for a technique and 60 for a coder, and fewer where noise dominates.
//
// All input may be untrusted. Everything that is not exactly as this package would have written it is rejected. The
// package does no I/O except reading the given random bits, and imports no package of this module.
//
// Start reading at [Count]. docs/sharing.md is the documentation for users, and docs/adr/0017-sharing-counts.md
// explains the choice of the noise.
package priors
