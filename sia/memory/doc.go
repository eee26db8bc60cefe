// Package memory turns a task into the files in which its repository remembers
// it, and back: Markdown for people, JSON for programs.
//
// Concepts:
//
//   - [File]: what is remembered of one task. [FromTask] makes it; schema.json describes its JSON
//     form.
//   - [JSON] and [Markdown] write a file over an earlier version of it. What somebody else put
//     there survives: unknown JSON fields, attempts and learnings that the task does not know, and
//     sections of the Markdown that are not ours.
//   - [ParseJSON] reads a file back as the same File. The Markdown is for people alone and is not
//     read back.
//   - [BrokenFile]: a person's edit made a file unreadable. Writing over such a file is refused, so
//     that it can be reported and kept.
//   - [Record]: what a lost database is rebuilt from; [File.Task] does so.
//   - [Learning]: what a resolved task teaches, by rules alone.
//
// Output is deterministic: the same task and the same earlier version give the
// same bytes, and writing twice changes nothing. Times are UTC, RFC 3339. The
// package redacts nothing; whoever commits the files does.
//
// The package imports only sia, sia/plan and sia/text. Start reading at file.go.
package memory
