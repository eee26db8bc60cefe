// Package priors lets installations learn from one another without telling one another
// anything about a task: what is counted, how the counts are blurred before they leave, and
// what is made of the counts of many.
//
//   - A [Cell] is one thing that is counted. [Cells] is the public list of all of them; nothing
//     else leaves an installation.
//   - [Count] counts outcomes. Of each task the first technique and the first coder count, each
//     once, so that a task moves two counts by one at most.
//   - [Counts.Blur] adds noise to every count of the list, also to those that are zero. It is the
//     two-sided geometric mechanism, by which what leaves is ε-differentially private for a task,
//     with ε = [Epsilon].
//   - A [Report] is what an installation shares for one period; [Priors] is what [Aggregate] makes
//     of the reports of many. Either is JSON that people can read, in one form only, and is signed
//     as a note (golang.org/x/mod/sumdb/note).
//   - [Priors.Technique] and [Priors.Coder] say how much the outcomes of others count at a place,
//     in outcomes: 240 of a technique and 60 of a coder at most, and fewer where noise is most of what was counted.
//
// Everything that is read may be a stranger's. Whatever is not exactly what this package would
// have written is refused. The package does no I/O but for the random bits that it is given, and
// imports nothing of ours.
//
// Start reading at [Count]. docs/sharing.md says the same to people, and
// docs/adr/0017-sharing-counts.md why the noise is what it is.
package priors
