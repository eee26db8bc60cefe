// Package work executes effects. An effect is a change that sia.Step requested: of GitHub, of a git repository, or a
// call of a model. Its outcome is reported as a fact.
//
// There is one file per effect, and each has the same shape: look whether the effect has already happened, act if it
// has not, report. An effect that is executed again after a crash therefore repeats at most the look. No transaction is
// open while one runs; the engine applies the fact afterwards, in the transaction that completes the job.
//
// [Worker.Effect] dispatches to the worker of the effect's kind. Each worker holds only what its effects need. What an
// effect needs of other packages is declared in worker.go as narrow interfaces: settings and policies, reading an
// issue, decisions, the choice of a technique, lessons, the memory branch. Package app passes the implementations in;
// they do not depend on one another.
//
// The package may import app/store, app/github, app/render and the packages below them. Start reading at worker.go,
// then gate.go.
package work
