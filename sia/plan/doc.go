// Package plan describes the parts of a task, their dependencies, and the order in which they
// can be done and merged.
//
// Concepts:
//
//   - A [Part] contains what to do, how to check that it is done, and which earlier parts it
//     needs. Parts are identified by their 1-based position in the list.
//   - A [Structure] is the kind of dependency between the parts.
//   - Needs contain only earlier parts, so there are no cycles.
//
// The package does no I/O and does not know who does a part or its outcome. Start reading at
// part.go.
package plan
