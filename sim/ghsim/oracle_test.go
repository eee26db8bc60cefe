package ghsim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// checkOracle checks the oracle's answer about a pull request, and returns its head.
func (s *sim) checkOracle(number int, green bool, red []string, tell ...func(*ghsim.OracleQuestion)) string {
	s.t.Helper()
	s.settle()
	p, err := s.Pull(repoName, number)
	must(s.t, err)
	q := ghsim.OracleQuestion{Repo: repoName, Pull: number, Own: "sia", Base: p.Base, Wait: 15 * time.Minute}
	for _, t := range tell {
		t(&q)
	}
	got, err := s.Oracle(q)
	must(s.t, err)
	if got.Head != p.Head || got.Open != (p.State == "open") || got.Green != green || !slices.Equal(got.Red, red) {
		s.t.Errorf("%+v, want green %v, red %q of %s", got, green, red, p.Head)
	}
	return got.Head
}

// The oracle reads the simulator's workflows, pushes and rules.
func TestOracle(t *testing.T) {
	const other = ".github/workflows/other.yml"
	s := newSim(t, map[string]string{"ok": "true",
		workflowFile: "name: ci\non: [push, pull_request]\n" +
			"jobs: {test: {steps: [{uses: actions/checkout@v4}, {run: bash ok}]}}\n"})
	push := func(files map[string]string) {
		t.Helper()
		_, err := s.PushFiles(repoName, "topic", "dana", "Change", files)
		must(t, err)
	}
	push(map[string]string{"a": "a"})
	n, err := s.OpenPull(repoName, "dana", "topic", "main", "T", "", false)
	must(t, err)
	s.checkOracle(n, true, nil)

	push(map[string]string{"ok": "false"})
	s.checkOracle(n, false, []string{"test"})
	push(map[string]string{"ok": "true", other: "name: other\non: push\njobs:\n  none: {steps: [{run: 'true'}], " +
		"strategy: {matrix: {x: '${{ fromJSON(''[]'') }}'}}}\n"})
	s.checkOracle(n, false, []string{"other"})
	push(map[string]string{other: ghsim.Deleted})
	before := s.checkOracle(n, true, nil)

	// A push with GITHUB_TOKEN starts nothing, and earlier checks are missed.
	_, err = s.PushAsBot(repoName, "topic", ghsim.BotPush{Login: "fix[bot]", Message: "Fix",
		Files: map[string]string{"a": "b"}, Token: ghsim.SilentToken})
	must(t, err)
	head := s.checkOracle(n, false, nil)
	must(t, s.CreateStatus(repoName, head, "dana", "ci/outside", "success", ""))
	s.checkOracle(n, false, nil, func(q *ghsim.OracleQuestion) { q.Earlier = []string{before} })
	waived := func(q *ghsim.OracleQuestion) { q.Earlier, q.Waived = []string{before}, []string{"test"} }
	s.checkOracle(n, true, nil, waived)

	merge, err := s.TestMerge(repoName, n)
	must(t, err)
	must(t, s.CreateStatus(repoName, merge, "dana", "ci/outside", "failure", ""))
	s.checkOracle(n, false, []string{"ci/outside"}, waived)
	must(t, s.ClosePull(repoName, n, "dana"))
	s.checkOracle(n, false, []string{"ci/outside"}, waived)
}

// A rule may require a check of an app, and statuses are set by the app's account.
func TestOracleOfAnApp(t *testing.T) {
	s := newSim(t, nil)
	n := s.opened()
	scanner, err := s.CreateApp("scanner")
	must(t, err)
	must(t, s.SetRules(repoName, "main", ghsim.Rule{Type: model.RuleChecks, Parameters: map[string]any{
		model.RuleChecks: []any{map[string]any{"context": "scan", "integration_id": scanner.ID}}}}))
	head := s.checkOracle(n, false, nil)
	must(t, s.CreateStatus(repoName, head, "dana", "scan", "success", ""))
	s.checkOracle(n, false, nil)
	must(t, s.SetPermission(repoName, "scanner[bot]", "write"))
	must(t, s.CreateStatus(repoName, head, "scanner[bot]", "scan", "success", ""))
	s.checkOracle(n, true, nil)
	_, err = s.CreateCheck(repoName, head, ghsim.AppCheck{App: "scanner", Name: "scan", Conclusion: "failure"})
	must(t, err)
	s.checkOracle(n, false, []string{"scan"})
}

// The oracle answers only about pull requests.
func TestOracleOfNoPull(t *testing.T) {
	s := newSim(t, nil)
	n, err := s.OpenIssue(repoName, "dana", "T", "")
	must(t, err)
	_, err = s.Oracle(ghsim.OracleQuestion{Repo: repoName, Pull: n})
	must(t, err, "is not a pull request")
	_, err = s.Oracle(ghsim.OracleQuestion{Repo: "acme/none", Pull: n})
	must(t, err, "no repository acme/none")
}
