// Package diagnose determines why an attempt failed and what to try instead. A second, independent model call reviews
// the conclusion.
//
// Concepts:
//
//   - [Diagnoser]: asks the model six questions about a failed attempt. The answer is validated
//     against a schema, requested again when it is unusable, and replaced by rules when the model
//     is unavailable.
//   - Rules (fallback.go, rules.go): each pattern of failure has evidence by which it is recognised
//     without a model: words in a log, names of files, changes between attempts.
//   - Hard rules (hardrules.go): for any answer of a model, a technique is known, unused and not refused,
//     confidence is between 0 and 1, the prompt is distinct, and a question to a user is
//     answerable. Package technique makes the next brief, not the model.
//   - [Reviewer]: a fresh call that sees only the proposal and looks for errors in it.
//     It also quotes the sentence of an issue that asks for a changed expectation (weigh.go); code
//     verifies the quote. And it compares the final change with the issue (final.go): quotes of
//     either that are not found (change.go) are dropped. Paths select the specialists (areas.go). A
//     reviewer that cannot decide may ask for files, once (context.go).
//
// All external text — issues, logs, transcripts, diffs — reaches the model in fences, labelled as data, without
// invisible characters, and within a budget; truncation is marked. A failure of the model is never an error here.
//
// The package imports sia, sia/technique (the library of techniques), sia/escalate (which makes a question answerable),
// sia/visible (visible text), sia/text and agent/llm (the types of a model call). A Diagnoser and a Reviewer are safe
// for concurrent use.
//
// Start reading at diagnose.go, then hardrules.go.
package diagnose
