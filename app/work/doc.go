// Package work carries out effects: what sia.Step wrote down is made to be so
// on GitHub, in git, in the model's head, and the outcome is reported as a fact.
//
// There is one file per effect, and each has the same shape: look whether the
// world shows the effect already, act when it does not, report. So an effect
// that is carried out again after a crash repeats at most the look. No
// transaction is open while one runs; the engine applies the fact afterwards,
// in the transaction that completes the job.
//
// [Worker.Effect] dispatches to the worker of the effect's kind: each of them holds what its effects need and nothing
// else. What an effect needs of other rooms stands in worker.go as narrow interfaces: settings and policies, looking
// at an issue, decisions, the choice of a technique, lessons, the memory branch.
// Package app passes them in; they don't know one another.
//
// The package may import app/store, app/github, app/render and what lies below
// them. Start reading at worker.go, then gate.go.
package work
