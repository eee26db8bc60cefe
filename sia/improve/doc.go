// Package improve improves files in cycles and keeps the changes that are shown to be better.
//
// Concepts:
//
//   - An [Order] names the files that may be changed, the goal, and the limits.
//   - A [Cycle] has three steps. *Analyse*: a model sees a file with its context and names one
//     specific improvement. *Implement*: it makes the improvement, as new content of the whole
//     file or, if it saw only part of the file, as edits. *Evaluate*: whether the result parses
//     in its language, whether the self-test passes, the score of an independent critique, and
//     for SIA's own files, the results of replayed tasks.
//   - A change that passes all of that is kept, and the next cycle builds on it. Any other change
//     is reverted, and the next cycle gets the reason.
//   - The critique is independent: a separate call that sees the goal, and the file before and
//     after, but neither the analysis nor the logs.
//
// The package decides and calls models. It accesses no disk and runs no programs: files, self-tests, parsers of other
// languages and replays are ports ([Config]) that work on a copy, so the original is never changed. The owner of the
// copy promotes the kept changes.
//
// All text shown to a model is masked, stripped of invisible characters, fenced and labelled with its origin.
//
// The package may import sia and its subpackages, and agent/llm, since an improvement is a model's answer. Start
// reading at improve.go.
package improve
