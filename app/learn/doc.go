// Package learn is what SIA learns from outcomes, and what it makes of it.
//
// There are three things to learn, each with a type of its own:
//
//   - [Chooser]: which technique resolves which pattern. It decides which technique the next attempt
//     uses, records its result, and keeps a learner in memory that replays the recorded outcomes.
//   - [Decider]: who works well at which kind of task, and the result of every other choice. It puts the
//     questions of tasks to the policies in force.
//   - [Lessons]: what tasks and people taught, in words. It learns from a task, chooses what the next
//     attempt is told, does what people say with `/sia learn`, `/sia forget` and `/sia wrong`, keeps each
//     repository's lessons in order, and shares among an owner's repositories what a person approved.
//
// [Sharing] counts what worked for other installations to learn from, where repositories agree. What is
// imported of theirs goes into the questions of [Chooser] and [Decider], and with these into the log.
//
// [Rewind] makes decisions of the log again by another policy, with what had been learned then.
//
// What is decided is logged by the caller before it takes effect; that something was learned twice
// changes nothing. None of them asks GitHub anything.
//
// The package may import app/store, app/render and what lies below them. Start reading at
// [Decider.Decide], then [Chooser.Choose] and [Lessons.FromTask].
package learn
