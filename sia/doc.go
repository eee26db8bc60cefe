// Package sia is the domain: what a task is, what can happen to it, and what
// SIA does in response.
//
// Its core is [Step], a pure function from a task and an event to the resulting
// task and the effects to carry out. Step does no I/O, reads no clock and uses
// no randomness: the event carries the time. So a task can be replayed from its
// event log, and tests can play millions of tasks.
//
// Concepts, in the order in which a reader meets them:
//
//   - [Task]: one issue that somebody asked SIA to resolve, in one [State].
//   - [Event]: something that happened, wrapped around one [Fact]. Facts come
//     from GitHub, from people, from timers, and from finished effects.
//   - [Effect]: a side effect, recorded before it is carried out, under a key
//     that is never reused.
//   - [Brief]: the input of the next attempt.
//   - [Diagnosis]: why an attempt failed and what to try instead.
//
// The table in table.go lists every (state, fact) pair, either as a move or as
// ignored with the reason; the table in effects.go has a line for every kind of
// effect. Tests walk both.
//
// Package app/render words what SIA says to people, from the typed facts of a task.
// This package words only the reasons of decisions, one sentence each, because the
// code that decides states the reason: why a move was made, why an event is ignored
// (the reply to the author of a command), why a task is paused or has ended. It also
// words the questions of question.go, because Step acts on their options.
//
// The package imports only the small packages below it; everything else imports it.
// Values are plain data and JSON-serialisable. A Task is not safe for concurrent
// use; Step never modifies its argument.
//
// Start reading at step.go.
package sia
