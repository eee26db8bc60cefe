// Package store keeps everything that SIA must not forget, and carries out what
// was written down.
//
// Its centre is [TaskStore.Apply]: in one transaction it loads a task, lets
// [sia.Step] decide, and writes the task, the event, the effects and a job for
// each effect. Nothing else changes a task. An [Engine] takes the jobs and runs
// the handlers that carry the effects out; what a handler found comes back
// through the same door, in the transaction that completes its job. So a crash
// anywhere repeats a handler at most, and applies its outcome once.
//
// Concepts:
//
//   - delivery: one webhook of GitHub, with its body, unique by its GUID. It is
//     saved with its job in one transaction before it is acknowledged.
//   - event and effect: see package sia. The log of events is append-only, and
//     replaying it gives the stored task ([TaskStore.Replay]).
//   - job: a row of River, the engine (github.com/riverqueue/river), that says
//     that a delivery or an effect is to be worked on. A job is never kept as a
//     fact: the rows of deliveries and effects are.
//   - decision: a choice with all that it was made by, logged before it takes
//     effect; outcome: the result of an intervention. Outcomes are read in the
//     order in which they were recorded, so that every replica learns the same.
//   - surface: something on GitHub that SIA writes again and again, such as the
//     status comment, remembered with a hash of what it last said.
//   - lesson: see package sia/lesson. Lessons are found by the words they share
//     with a search, through an index of our own (lessonsearch.go).
//
// The database is a SQLite file or on a PostgreSQL server. SQL is written once,
// for both; what differs is the interface dialect, with sqlite.go (and statements.go,
// checkpoint.go, backup.go) and postgres.go (and pgstatements.go, pglisten.go)
// behind it. The schema is written once as well: pgschema.go makes PostgreSQL's of SQLite's. The reasons are in
// docs/adr/0027.
// There are pools for reading, for writing, and for
// River. No transaction is held across anything but SQL.
//
// A [Store] and an [Engine] are safe for concurrent use.
//
// The package may import sia and what lies below it, app/lease and app/atomicfile. Its
// tests are one suite for every database: suite_test.go.
//
// Start reading at apply.go, then effectjob.go and lease.go; dialect.go for the databases.
package store
