// Package probe verifies GitHub's behavior that SIA relies on: the facts in docs/github.md, each as a request and the
// expected response.
//
// Concepts:
//
//   - [Fact]: a behavior of GitHub, with its source, and a probe: a function that tries it. Each section of facts has
//     its own file. testdata/untried.txt has the behaviors that can't be provoked, and testdata/held.txt names the
//     tests of SIA's handling of each.
//   - [Try]: one run of one probe. It ends at the first difference; later calls do nothing.
//   - [Bench]: a repository for probes, and all objects created there. Their names have a prefix of their own, and
//     they are removed, also if a probe fails or the run is canceled.
//   - [Report]: the result of each fact: it holds, GitHub differs, or it was not tried, with the reason. With the
//     requests and responses it is the output of `sia doctor github --record`.
//
// The tests of this package try the same facts on the simulator, and `sia doctor github --repo OWNER/SCRATCH` tries
// them on any GitHub. docs/github.md is generated from them and the two files: `go test ./app/probe -update`.
//
// The package imports app/github to authenticate, and sia/secret. It uses plain HTTP, because waits, retries and
// caches would hide the behavior. Start reading at fact.go, then try.go and pulls.go.
package probe
