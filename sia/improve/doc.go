// Package improve makes files better, a cycle at a time, and keeps what can be shown to be
// better.
//
// Concepts:
//
//   - An [Order] names the files that may be changed, what for, and how far to go.
//   - A [Cycle] has three steps. *Analyse*: a model is shown a file with what is known about it,
//     and names one specific improvement. *Implement*: it makes the improvement, as whole
//     new content or, where it could not be shown all of the file, as edits. *Evaluate*: does
//     the result parse for its language, does the self-test pass, what does an independent
//     critique score it, and for SIA's own files, the results of replayed tasks.
//   - What stands all of that is kept, and the next cycle builds on it. Anything else is
//     reverted, and the next cycle gets the reason.
//   - The critique is independent: it is a call of its own that sees the goal, and the file
//     before and after. It knows neither the analysis nor the logs.
//
// The package decides and asks. It touches no disk and runs nothing: files, self-tests, the
// parsers of other languages and replays are ports ([Config]) that work on a copy, so that
// whatever happens here, the original is as it was. Who gave the copy promotes what was kept.
//
// Everything that a model is shown is masked, cleaned of what a person would not see, fenced and
// labelled with where it comes from.
//
// The package may import sia and what lies below it, and agent/llm, since an improvement is
// a model's answer. Start reading at improve.go.
package improve
