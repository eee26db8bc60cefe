// Package evidence runs the tests that a change can reach, and says what came out otherwise.
//
// Concepts:
//
//   - A change is a head commit and its base. Tests are run in three trees: the base, the head, and the head with
//     the base's versions of the tests laid over (trees.go). A deleted test comes back in the third, and a new one
//     is not there. Where new tests stand in for others, they are run in a fourth: the base with the head's tests.
//   - Which tests a change can reach is told from the files that it touches (reach.go, goreach.go). What is left
//     out is said.
//   - Tests are run in batches of groups. A batch's results are kept in the cache folder under the contents that
//     it was run on (keep.go): a kill loses one batch, and the next head finds the base's.
//   - Results are compared by name (compare.go). Where something is found, the base's tests are run twice more: what
//     does not come out alike is no evidence.
//   - Where the change adds code that may ask whether it is being tested, the tests are run again as outside of a
//     runner, and as in a CI job (marks.go).
//   - Before a change is pushed there is a shorter look: what fails at the head and not on the base (affected.go). The
//     longer one finds its results kept.
//
// What the tests print is what the code under test may print, too. A process that ends early leaves no last word of
// the runner, and no results. One that prints the runner's lines itself, with every name, is not found out: that
// takes code that is written to deceive, which reads as such. Nor is what code does to the files of another group of
// the same batch, or to the build caches, which all looks at a repository share and the code under test can write to.
//
// The package imports gitops, agent, agent/testrun and sia. Start reading at evidence.go.
package evidence
