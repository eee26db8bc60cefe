// Package stuck tells when a task does not get anywhere: after an attempt, by
// four computed signals ([Signals]); and inside one, by what the agent keeps
// doing ([Predict]), so that it is interrupted before its budget is gone.
//
// No signal is a model's opinion, and each carries its evidence for people. The
// rules are section 1.2 of the product document. The package is pure and safe
// for concurrent use; it imports package sia alone.
//
// Start reading at signals.go.
package stuck
