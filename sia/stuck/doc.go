// Package stuck tells when a task does not get anywhere: after an attempt, by
// four computed signals ([Signals]); and inside one, by what the agent keeps
// doing, so that it is interrupted before its budget is gone.
//
// Inside an attempt there are two ways to see it:
//
//   - Rules ([Predict]): the same call with the same result again and again, the same error, two
//     calls taking turns. They hold whatever it costs.
//   - A hazard ([Hazard]): a small logistic model of a few signs ([Look]), learned on line from the
//     attempts that ended ([Learn]). It interrupts where going on costs more than stopping. It
//     spares a share of the attempts that it would interrupt ([Spared]), to learn how they
//     end.
//
// No signal is a language model's opinion, and each carries its evidence for
// people. The rules are docs/rules.md#signals and docs/rules.md#going-nowhere. The
// package is pure and safe for concurrent use; it imports sia and sia/text alone.
//
// Start reading at signals.go, then predict.go and hazard.go.
package stuck
