// Package plan takes a task apart: its parts, what each of them rests on, and in which order
// they can be done and put together again.
//
// Concepts:
//
//   - A [Part] says what to do, how one can tell that it is done, and which earlier parts it
//     needs. Parts are known by their number, which is their place in the list, from 1.
//   - A [Structure] says how the parts hang together.
//   - Needs name earlier parts alone, so no order can be circular.
//
// It is arithmetic on numbers, without I/O: who does a part, where, and its outcome is for
// others. It imports nothing of ours but the ground floor. Start reading at part.go.
package plan
