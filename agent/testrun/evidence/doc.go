// Package evidence runs the tests that a change can reach, and reports different results.
//
// Concepts:
//
//   - A change is a head commit and its base. Tests are run in three trees: the base, the head, and the head with the
//     base's versions of the tests (trees.go). In the third, deleted tests exist and new ones don't. If new tests may
//     replace others, they are run in a fourth: the base with the head's tests.
//   - The tests that a change can reach are derived from the changed files (reach.go, goreach.go). Omissions are
//     reported.
//   - Tests are run in batches of groups. A batch's results are cached in a folder under the hash of its inputs
//     (cache.go): if the process is killed, only one batch is lost, and the base's results serve the next head.
//   - Results are compared by name (compare.go). For findings, the base's tests are run twice more, and the head's for
//     tests that fail there: different results are no evidence.
//   - If the change adds code that may detect tests, the tests are run again as outside of a runner, and as in a CI job
//     (variants.go).
//   - Before a push, a shorter check finds tests that fail at the head and not on the base (affected.go). Its results
//     are cached for the longer one.
//
// The code under test can print anything that tests print. If a process ends early, the runner's last line is missing,
// and there are no results. The package does not detect code that prints the runner's lines itself, with all names:
// that must be written deliberately and is visible in review. Nor does it detect code that changes the files of another
// group in the same batch, or the build caches, which all runs of a repository share and the code under test can write.
//
// The package imports gitops, agent, agent/testrun and sia. Start reading at evidence.go.
package evidence
