// Package learn learns from outcomes and applies what was learned.
//
// There are three things to learn, each with its own type:
//
//   - [Chooser]: which technique resolves which pattern. It decides which technique the next attempt
//     uses, records its result, and keeps a learner in memory that replays the recorded outcomes.
//   - [Decider]: which coder works well at which kind of task, and the result of every other choice. It makes
//     decisions about tasks by the policies in force.
//   - [Lessons]: texts learned from tasks and users. It learns from a task, chooses the lessons for the next
//     attempt, executes `/sia learn`, `/sia forget` and `/sia wrong`, maintains each repository's lessons,
//     and shares approved lessons among an owner's repositories.
//
// [Sharing] counts outcomes for other installations to learn from, if repositories have agreed. Imported counts are
// part of the questions of [Chooser] and [Decider], and so of the log.
//
// [Rewind] repeats logged decisions by another policy, with the outcomes known at that time.
//
// The caller logs decisions before they take effect. Learning the same thing twice changes nothing. None of the types
// makes requests to GitHub.
//
// The package may import app/store, app/render and the packages below them. Start reading at [Decider.Decide], then
// [Chooser.Choose] and [Lessons.FromTask].
package learn
