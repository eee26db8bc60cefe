// Package escalate is how SIA asks people, and how it understands what they
// answer.
//
// Concepts:
//
//   - [Question]: what a person is told when SIA needs one — how far it got, what
//     was tried, the blocker, one question, two to four options, where to look.
//     It is made as values ([Package]); turning it into Markdown is another
//     package's work.
//   - [FromDiagnosis], [FromAsk] and [NoChecks] make the [sia.Escalation] behind
//     it. What they return is always valid: lettered options, one of them the
//     fastest, whatever a model wrote.
//   - [Box], [ParseBoxes] and [ParseAnswer]: options as tick boxes, which boxes a
//     person ticked, and which option a person's words mean.
//
// Everything is pure and deterministic. The package imports only package sia.
// Start reading at question.go, then answer.go.
package escalate
