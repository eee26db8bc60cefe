// Package stuck detects that a task makes no progress: after an attempt, by four
// computed signals ([Signals]); and during one, by the agent's repeated actions,
// so that the attempt is interrupted before its budget is used up.
//
// During an attempt there are two detectors:
//
//   - Rules ([Predict]): repetitions of a call with the same result, of an error, or of two
//     alternating calls. They apply regardless of cost.
//   - A hazard ([Hazard]): a small logistic model of a few features ([Look]), learned online from
//     the attempts that ended ([Learn]). It interrupts an attempt if continuing costs more than
//     stopping. It spares a share of those attempts ([Spared]), to learn how they end.
//
// No signal is a language model's opinion, and each contains its evidence for
// people. The rules are docs/rules.md#signals and docs/rules.md#going-nowhere. The
// package is pure and safe for concurrent use; it imports only sia and sia/text.
//
// Start reading at signals.go, then predict.go and hazard.go.
package stuck
