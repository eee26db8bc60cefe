// Package diagnose works out why an attempt failed and what to try instead, and
// has that conclusion reviewed by a second, independent model call.
//
// Concepts:
//
//   - [Diagnoser]: asks the model six questions about a failed attempt. What comes back is checked
//     against a schema, tried once more when it is unusable, and replaced by rules when the model
//     can't be had.
//   - Rules (fallback.go, rules.go): each pattern of failure has evidence by which it is recognised
//     without a model: words in a log, names of files, what changed between attempts.
//   - Hard rules (settle.go): whatever a model says, a technique is known, unused and not refused,
//     confidence is between 0 and 1, the prompt is distinct, and a question to a person can be
//     answered. The next brief is made by package technique, not by the model.
//   - [Reviewer]: a fresh call that sees only what is proposed, asked to find what is wrong with it.
//     It also says which sentence of an issue asks for a changed expectation (weigh.go); code holds
//     that the sentence stands there. And it reads the final change against the issue (final.go):
//     what it quotes of either is found again (change.go), or dropped. Which specialists look is
//     known by the paths (areas.go). Where it can't tell, it may ask for files, once (context.go).
//
// Everything from outside — issue text, logs, transcripts, diffs — reaches the
// model within fences and labelled as data, without characters that hide, and
// within a budget; what was cut is said. Model trouble is never an error here.
//
// The package imports sia, sia/technique (the library it chooses from), sia/escalate (which makes a
// question answerable), sia/visible (what people see), sia/text and agent/llm (the types of a model
// call). A Diagnoser and a Reviewer are safe for concurrent use.
//
// Start reading at diagnose.go, then settle.go.
package diagnose
