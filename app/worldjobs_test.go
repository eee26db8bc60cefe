package app_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim"
)

// workflow returns a workflow file. Additions are drawn separately, so that worlds without them stay the same.
func (w *world) workflow(r *rand.Rand, n int) string {
	text := drawWorkflow(r, n)
	if slices.Contains(failedPlain, w.seed) {
		return text
	}
	text = addJobs(rand.New(rand.NewPCG(w.seed, uint64(10_000+100*w.moves+n))), text)
	if slices.Contains(failedOnce, w.seed) { // they are older than the additions below
		return text
	}
	return addCall(rand.New(rand.NewPCG(w.seed, uint64(30_000+100*w.moves+n))), text)
}

// calledPath is a reusable workflow with the content called, including a job that sums up others.
const (
	calledPath = ".github/workflows/called.yml"
	called     = `on: workflow_call
jobs:
  unit:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        os: [a, b]
    steps:
      - uses: actions/checkout@v4
      - run: go test ./...
  drafts:
    if: github.event.pull_request.draft == false
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: go test ./...
  lenient:
    needs: [unit]
    if: always()
    runs-on: ubuntu-latest
    steps:
      - run: test "${{ needs.unit.result }}" != failure
`
)

// addCall makes a job call a reusable workflow, in some workflows, and another sum it up.
func addCall(r *rand.Rand, text string) string {
	if r.IntN(4) > 0 {
		return text
	}
	keys := jobsIn(text)
	text += "  suite:\n    uses: ./" + calledPath + "\n" +
		oneOf(r, "", "    needs: "+keys[0]+"\n", "    needs: ["+strings.Join(keys, ", ")+"]\n") +
		oneOf(r, "", "", "    strategy:\n      matrix:\n        v: [1, 2]\n") +
		oneOf(r, "", "", "", "    if: always()\n", "    if: github.event.pull_request.draft == false\n")
	if r.IntN(3) > 0 {
		text += "  total:\n    needs: [suite]\n    if: always()\n    runs-on: ubuntu-latest\n    steps:\n" +
			"      - run: test \"${{ needs.suite.result }}\" != failure\n"
	}
	return text
}

// conditions are conditions of jobs in real workflows, in addition to drawWorkflow's: the author of the pull request,
// whether it is a draft, and another job's output.
var conditions = []string{"github.event.pull_request.user.type != 'Bot'", "${{ github.actor != 'sia[bot]' }}",
	"github.event.pull_request.draft == false", "github.event_name != 'push'", "github.event_name == 'merge_group'",
	"github.event.action != 'labeled'"}

// addJobs adds common features to a workflow of drawWorkflow: jobs that need others, a condition or another job's
// output, a job that sums up the others, filters, and groups in which one run cancels the other.
func addJobs(r *rand.Rand, text string) string {
	if r.IntN(3) == 0 {
		text = strings.Replace(text, "on: pull_request\n",
			oneOf(r, "on:\n  pull_request:\n    paths-ignore: ['docs/**']\n", "on:\n  pull_request:\n    paths: ['**/*.go']\n",
				"on:\n  pull_request:\n    paths: ['src/**', '!src/made1.go']\n"), 1)
	}
	if r.IntN(3) == 0 && !strings.Contains(text, "concurrency:") { // a push and its pull request are in one group
		text = strings.Replace(text, "jobs:\n", "concurrency:\n  group: ${{ github.workflow }}-${{ github.head_ref || "+
			"github.ref_name }}\n  cancel-in-progress: true\njobs:\n", 1)
	}
	var b strings.Builder
	b.WriteString(text)
	keys := jobsIn(text)
	job := func(key, needs, cond, step string) {
		fmt.Fprintf(&b, "  %s:\n", key)
		if needs != "" {
			fmt.Fprintf(&b, "    needs: %s\n", needs)
		}
		if cond != "" {
			fmt.Fprintf(&b, "    if: %s\n", cond)
		}
		b.WriteString("    runs-on: ubuntu-latest\n    steps:\n")
		if step == "" {
			step = "      - uses: actions/checkout@v4\n      - run: go test ./...\n"
		}
		b.WriteString(step)
		keys = append(keys, key)
	}
	if r.IntN(3) == 0 {
		job("guarded", "", oneOf(r, conditions...), "")
	}
	if r.IntN(4) == 0 {
		job("changes", "", "", "      - run: git diff --name-only\n")
		job("part", "changes", fmt.Sprintf("needs.changes.outputs.src %s 'true'", oneOf(r, "==", "!=")), "")
	}
	if r.IntN(3) == 0 {
		job("chain", oneOf(r, keys...), oneOf(r, "", "", "always()", "!cancelled()"), "")
	}
	if r.IntN(2) == 0 {
		r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		needs := slices.Clone(keys[:1+r.IntN(len(keys))])
		reads := "${{ toJSON(needs) }}"
		if r.IntN(2) == 0 {
			reads = fmt.Sprintf("${{ needs.%s.result }}", needs[0])
		}
		job(oneOf(r, sums...), "["+strings.Join(needs, ", ")+"]", oneOf(r, "always()", "always()", "${{ !cancelled() }}", ""),
			"      - run: test \""+reads+"\" != failure\n")
	}
	return b.String()
}

// sums are names of jobs that sum up others: the first checks their results, the other accepts all except failures,
// including canceled and skipped ones.
var sums = []string{"strict", "lenient"}

// sumsUp returns the result of a job that sums up others.
func sumsUp(j ghsim.JobView) (conclusion, log string, is bool) {
	name := j.Name[strings.LastIndex(j.Name, " ")+1:] // without the caller's name
	switch {
	case !slices.Contains(sums, name) && name != "total":
		return "", "", false
	case name == sums[0] && j.Failed:
		return "failure", "a job that is needed did not succeed\n##[error]Process completed with exit code 1.\n", true
	}
	return "success", "fine\n", true
}

// addRules makes the base require one of the added jobs, in some worlds, and makes GitHub create jobs only after those
// that they need have ended, as in reality.
func (w *world) addRules() {
	r := rand.New(rand.NewPCG(w.seed, 20_000))
	if slices.Contains(failedPlain, w.seed) {
		return
	}
	for _, key := range w.jobs {
		if slices.Contains(sums, key) && r.IntN(3) > 0 {
			w.must(w.sim.SetRuleset(w.repo, "main", key))
			w.note("main requires %s", key)
			w.count["a sum is required"]++
		}
	}
	if slices.Contains(w.jobs, "suite") && r.IntN(2) == 0 {
		name := oneOf(r, "suite / lenient", "suite / unit (a)", "total")
		w.must(w.sim.SetRuleset(w.repo, "main", name))
		w.note("main requires %s", name)
		w.count["what is called is required"]++
	}
	if r.IntN(2) == 0 {
		w.must(w.sim.SetActions(w.repo, ghsim.Actions{Late: true}))
		w.note("jobs are made late")
	}
}
