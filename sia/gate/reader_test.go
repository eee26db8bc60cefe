package gate

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
)

// A pass does not rest on a check that only reads the code, or on an app's check of unknown purpose.
func TestReadersAreNoEvidence(t *testing.T) {
	const none, ok = sia.VerdictNone, sia.VerdictGreen
	by := func(app, name string) Input { r := run(2, name, "success"); r.App = app; return input(r) }
	says := func(context, description string) Input {
		in := input()
		in.Statuses = []Status{{Context: context, State: "success", Description: description, UpdatedAt: in.Since}}
		return in
	}
	dynamic := func(event, path, name string) Input {
		w := workflow(9, "Dynamic", event, "success")
		w.Path = path
		in := input(job(1, 9, 1, name, "success")).with(w)
		in.FilesKnown = true
		return in
	}
	ran := func(steps string) Input {
		in := input(job(1, 7, 1, "look", "success")).with(workflow(7, "CI", "pull_request", "success"))
		in.Files, in.FilesKnown = []File{ReadFile(ciPath, []byte("on: pull_request\njobs:\n  look:\n"+
			"    steps: ["+steps+"]\n"))}, true
		return in
	}
	settings := func(in Input, names ...string) Input { in.Settings.Required = names; return in }
	vouched := func(in Input, names ...string) Input { in.Vouched = names; return in }
	const checkout = "{uses: actions/checkout@v5}"
	judgeAll(t, []row{
		{"the default setup of CodeQL", dynamic("dynamic", "dynamic/github-code-scanning/codeql", "Analyze (python)"), none,
			""},
		{"a review by Copilot", dynamic("dynamic", "dynamic/copilot-pull-request-reviewer/x", "Agent"), none,
			""},
		{"the same, of which the event is not known", dynamic("", "dynamic/copilot-pull-request-reviewer/x", "Agent"), none,
			""},
		{"the alerts of code scanning", by("github-advanced-security", "CodeQL"), none, ""},
		{"a summary of Mergify", by("mergify", "Summary"), none, ""},
		{"SonarCloud", by("sonarqubecloud", "SonarCloud Code Analysis"), none, ""},
		{"Netlify on headers", by("netlify", "Header rules - build"), none, ""},
		{"Netlify on pages", by("netlify", "Pages changed - shop"), none, ""},
		{"Netlify's deploy", says("netlify/shop/deploy-preview", "Deploy Preview ready!"), ok, ""},
		{"Vercel's deploy", says("Vercel", "Deployment has completed"), ok, ""},
		{"Vercel passed over it", says("Vercel", "Skipped Deployment"), none, ""},
		{"Vercel's build was cancelled by its own rule", says("Vercel – shop", "Canceled by Ignored Build Step"), none, ""},
		{"Snyk", says("security/snyk (ada)", "No new issues"), none, ""},
		{"Codecov", says("codecov/patch", "Coverage not affected"), none, ""},
		{"Renovate", says("renovate/stability-days", "Updates have met minimum release age"), none, ""},
		{"CircleCI", says("ci/circleci: a", "Your tests passed"), ok, ""},
		{"Buildkite", says("buildkite/shop", "Build #7 passed"), ok, ""},
		{"Azure Pipelines", by("azure-pipelines", "shop"), ok, ""},
		{"an app that says what it does", by("acme", "unit tests"), ok, ""},
		{"Prow", says("pull-shop-unit-test", "Job succeeded."), ok, ""},

		{"nobody knows what it does", by("acme", "Summary"), none,
			"Whether Summary builds or tests the code, SIA can't tell: a person may say so."},
		{"a rule requires it", by("acme", "Summary").requiring("Summary"), ok, ""},
		{"the settings require it", settings(by("acme", "Summary"), "Summary"), ok, ""},
		{"a person said that it does", vouched(by("acme", "Summary"), "Summary"), ok, ""},
		{"a rule requires what only reads", by("mergify", "Summary").requiring("Summary"), none, ""},
		{"a person can't make a licence code", vouched(by("cla", "license/cla"), "license/cla"), none, ""},

		{"a job that scans", ran(checkout + ", {uses: github/codeql-action/init@v4}, " +
			"{uses: github/codeql-action/analyze@v4}"),
			none, ""},
		{"with the words of its template", ran(checkout + ", {uses: actions/setup-node@v4}, " +
			"{uses: github/codeql-action/init@v4}, {run: \"echo 'Replace this with' \\\\\\n  'your build'\\nexit 1\"}"), none,
			""},
		{"a job that builds and scans", ran(checkout + ", {uses: github/codeql-action/init@v4}, {run: make}"), ok, ""},
		{"a job that prints and builds", ran(checkout + ", {uses: github/codeql-action/init@v4}, " +
			"{run: \"echo a\\nmake\"}"), ok,
			""},
		{"a job that reviews dependencies", ran(checkout + ", {uses: actions/dependency-review-action@v4}"), none, ""},
		{"a job that lints by an action", ran(checkout + ", {uses: golangci/golangci-lint-action@v8}"), ok, ""},
	})
	if c := Judge(by("acme", "Summary")).Checks[0]; !c.Unsure || c.Code {
		t.Errorf("a person can't say what it does: %+v", c)
	}
	if c := Judge(by("mergify", "Summary")).Checks[0]; c.Unsure {
		t.Errorf("a person may take a summary for a test: %+v", c)
	}
	if got := strings.Join(Judge(by("mergify", "Summary")).Explain, " "); strings.Contains(got, "a person may say") {
		t.Error(got)
	}
}
