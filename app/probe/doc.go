// Package probe tries on a GitHub what SIA relies on there: for each fact of docs/github.md, do this, expect that.
//
// Concepts:
//
//   - [Fact]: something that GitHub does, with its source, and a probe: a function that tries it. What can't be
//     provoked says why, instead of a probe. Facts are in sections, one file each. testdata/held.txt names the tests
//     that hold SIA to each.
//   - [Try]: one run of one probe. Its first difference ends it: what comes after does nothing.
//   - [Bench]: a repository to try things in, and all that was made there. Its names begin with a mark of its own,
//     and it takes back what it made, also when a probe fails or the run is cancelled.
//   - [Report]: the result of each fact: it holds, GitHub differs, or it was not tried and why. With what was asked
//     and answered it is what `sia doctor github --record` writes.
//
// The same facts run against the simulator in this package's tests, and against any GitHub by
// `sia doctor github --repo OWNER/SCRATCH`. docs/github.md is generated from them: `go test ./app/probe -update`.
//
// The package imports app/github to sign in, and sia/secret; it speaks plain HTTP, because waits, retries and caches
// would hide what is looked at. Start reading at fact.go, then try.go and pulls.go.
package probe
