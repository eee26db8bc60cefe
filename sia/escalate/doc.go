// Package escalate makes the questions that SIA asks people, and parses their
// answers.
//
// Concepts:
//
//   - [FromDiagnosis] returns the [sia.Escalation] for a person. It is valid for any
//     output of a model: it has lettered options, one of them marked as the fastest.
//     Package app/render formats it as Markdown.
//   - [CleanAsk] does the same for an agent's question, and prepares an agent's plan for display.
//   - [Box], [ParseBoxes] and [ParseAnswer] format options as tick boxes, and parse ticked boxes
//     and answers in text.
//
// Everything is pure and deterministic. The package imports only sia, sia/text and sia/visible.
// Start reading at escalation.go, then answer.go.
package escalate
