// Package store persists the state of SIA in a SQL database and runs the jobs
// that carry it out.
//
// The central function is [TaskStore.Apply]: in one transaction it loads a task, calls
// [sia.Step], and writes the task, the event, the effects and a job for each
// effect. Nothing else changes a task. An [Engine] takes the jobs and runs the
// handlers that carry the effects out; the outcome of a handler is applied by the
// same function, in the transaction that completes the job. So a crash at any point
// repeats a handler at most, and its outcome is applied once.
//
// Concepts:
//
//   - delivery: one webhook from GitHub, with its body, unique by its GUID. It is
//     saved with its job in one transaction before it is acknowledged.
//   - event and effect: see package sia. The log of events is append-only, and
//     replaying it gives the stored task ([TaskStore.Replay]).
//   - job: a row of River, the job queue (github.com/riverqueue/river), for a
//     delivery or an effect that has to be processed. Jobs are transient; the
//     durable records are the rows of deliveries and effects.
//   - decision: a choice with all of its inputs, logged before it takes effect;
//     outcome: the result of an intervention. Outcomes are read in the order in
//     which they were recorded, so that every replica learns the same.
//   - surface: something on GitHub that SIA updates repeatedly, such as the
//     status comment, stored with a hash of its last content.
//   - lesson: see package sia/lesson. Lessons are found by the words they share
//     with a search, through an inverted index (lessonsearch.go).
//
// The database is a SQLite file or a PostgreSQL database. SQL is written once for
// both; the interface dialect covers the differences, implemented by sqlite.go (with
// statements.go, checkpoint.go, backup.go) and postgres.go (with pgstatements.go,
// pglisten.go). The schema is written once as well: pgschema.go translates SQLite's to
// PostgreSQL's. The reasons are in docs/adr/0027.
// There are pools for reading, for writing, and for
// River. No transaction is held across anything but SQL.
//
// A [Store] and an [Engine] are safe for concurrent use.
//
// The package may import sia and the packages below it, app/lease and app/atomicfile. Its
// tests are one suite that runs on every database: suite_test.go.
//
// Start reading at apply.go, then effectjob.go and lease.go; dialect.go for the databases.
package store
