// Package sia is the domain: what a task is, what can happen to it, and what
// SIA does about it.
//
// Its centre is [Step], a pure function from a task and an event to the task
// that results and the effects that are to be carried out. Step does no I/O,
// reads no clock and rolls no dice: time comes in with the event. So a task can
// be replayed from its event log, explained, and tested by the million.
//
// Concepts, in the order in which a reader meets them:
//
//   - [Task]: one issue that somebody asked SIA to resolve, in one [State].
//   - [Event]: something that happened, wrapped around one [Fact]. Facts come
//     from GitHub, from people, from timers, and from finished effects.
//   - [Effect]: something the world should be made to show, written down before
//     it happens, under a key that is unique for ever.
//   - [Brief]: what the next attempt is given.
//   - [Diagnosis]: why an attempt failed and what to try instead.
//
// The table in table.go lists every (state, fact) pair, either as a move or as
// ignored with the reason; the table in effects.go has a line for every kind of
// effect. Tests walk both.
//
// What SIA says to people is worded in app/render, from the typed facts of a task:
// what it waits for, and what can be done about it. Here stand the reasons of
// decisions, one sentence each, because what chooses says why: why a move was made,
// why an event is ignored (a reply to whoever wrote the command), why a task is paused
// or has ended; and the questions of question.go, with options that Step acts on.
//
// The package imports nothing of ours; everything else imports it. Values are
// plain data and JSON-serialisable. A Task is not safe for concurrent use; Step
// never modifies its argument.
//
// Start reading at step.go.
package sia
