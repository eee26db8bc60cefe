// Package escalate is how SIA asks people, and how it understands what they
// answer.
//
// Concepts:
//
//   - [FromDiagnosis] and [FromAsk] make the [sia.Escalation] that is put to a person. What they
//     return is always valid: lettered options, one of them the fastest, whatever a model wrote.
//     Turning it into Markdown is app/render's work.
//   - [CleanPlan] makes an agent's plan one that can be shown to a person.
//   - [Box], [ParseBoxes] and [ParseAnswer]: options as tick boxes, which boxes a person ticked,
//     and which option a person's words mean.
//
// Everything is pure and deterministic. The package imports only sia, sia/text and sia/visible.
// Start reading at escalation.go, then answer.go.
package escalate
