// Package memory converts a task to the files that its repository keeps about it, and back: Markdown for users, JSON
// for programs.
//
// Concepts:
//
//   - [File]: the memory of one task. [FromTask] makes it.
//   - [JSON] and [Markdown] update an earlier version of a file. Content added by others is
//     kept: unknown JSON fields, attempts and learnings that the task does not have, and
//     sections of the Markdown that are not SIA's.
//   - [ParseJSON] parses a file into the same File. The Markdown is only for users and is not
//     parsed.
//   - [BrokenFile]: the error for a file that a user's edit made unreadable. Such a file is not
//     overwritten, so that it can be reported and kept.
//   - [Record]: the data for rebuilding a lost database; [File.Task] does so.
//   - [Learning]: what a resolved task teaches, by rules alone.
//
// Output is deterministic: the same task and the same earlier version yield the same bytes, and writing twice changes
// nothing. Times are UTC, RFC 3339. The package redacts nothing; the committer of the files does.
//
// The package imports only sia, sia/plan and sia/text. Start reading at file.go.
package memory
