package gate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const aJob = "\njobs:\n  test:\n    steps:\n      - uses: actions/checkout@v4\n"

func TestTriggers(t *testing.T) {
	for _, c := range []struct {
		on   string
		want []Trigger
	}{
		{"on: push", []Trigger{{Event: "push"}}},
		{"on: [push, pull_request]", []Trigger{{Event: "pull_request"}, {Event: "push"}}},
		{"'on':\n  - push\n  - merge_group", []Trigger{{Event: "merge_group"}, {Event: "push"}}},
		{"\"on\":\n  push:\n  pull_request:\n    branches: [main]", []Trigger{{Event: "pull_request", Branches: true,
			Base: Paths{Wanted: []string{"main"}}}, {Event: "push"}}},
		{"on:\n  push: {paths: ['src/**']}", []Trigger{{Event: "push", Paths: Paths{Wanted: []string{"src/**"}}}}},
		{"on:\n  push: {paths-ignore: ['docs/**'], branches-ignore: [x]}", []Trigger{{Event: "push", Branches: true,
			Paths: Paths{Ignored: []string{"docs/**"}}, Base: Paths{Ignored: []string{"x"}}}}},
		{"on:\n  push: {tags: ['v*']}", []Trigger{{Event: "push", Branches: true}}},
		{"on:\n  pull_request: {types: [opened, synchronize]}", []Trigger{{Event: "pull_request"}}},
		{"on:\n  pull_request: {types: [opened, labeled]}", []Trigger{{Event: "pull_request", Narrow: true}}},
		{"on:\n  pull_request: {types: ready_for_review}", []Trigger{{Event: "pull_request", Narrow: true, Ready: true}}},
		{"x: &f {paths: [a]}\non:\n  push: *f", []Trigger{{Event: "push", Paths: Paths{Wanted: []string{"a"}}}}},
	} {
		got := ReadFile(ciPath, []byte(c.on+aJob))
		want := File{Path: ciPath, Triggers: c.want, Jobs: []Job{{Name: "test", Code: true}}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", c.on, d)
		}
	}
}

func TestJobsOfFile(t *testing.T) {
	const called = ".github/workflows/t.yml"
	for job, want := range map[string]Job{
		"steps: [{uses: actions/checkout@v4}]":                                          {Code: true},
		"steps: [{run: make}, {uses: acme/git-checkout@v1}]":                            {Code: true, Runs: true},
		"steps: [{uses: actions/checkout@v4}, {run: 'git log | grep x'}]":               {Code: true},
		"steps: [{uses: acme/sparse/checkout-it@v1}]":                                   {Code: true},
		"steps: [{uses: ./.github/actions/test}]":                                       {Code: true},
		"uses: ./.github/workflows/t.yml":                                               {Code: true, Calls: called},
		"uses: acme/rules/.github/workflows/test.yml@v1":                                {Code: true, Calls: externalCall},
		"steps: [{run: git clone https://github.com/ada/shop}]":                         {Code: true},
		"steps: [{run: \"git init\\ngit -C . fetch --depth 1 origin $GITHUB_SHA\\n\"}]": {Code: true},
		"steps: [{run: gh repo clone ada/shop}]":                                        {Code: true},
		"steps: [{run: echo fine}]":                                                     {},
		"steps: [{uses: actions/labeler@v5}]":                                           {},
		"steps: [{uses: actions/github-script@v7, with: {script: 'fetch(git)'}}]":       {},
		"steps: [{run: \"echo a\\n# b\\n\\nprintf c\\n\"}]":                             {},
		"steps: [{run: ./start-jenkins}]":                                               {Code: true},
		"steps: [{run: 'gh pr edit 7 --add-label x'}]":                                  {},
		"steps: [{run: ./check, env: {T: '${{ github.event.pull_request.title }}'}}]":   {},
		"steps: []": {},
		"{}":        {},
		"steps: [{run: 'test \"${{ needs.a.result }}\" = success'}]":                        {},
		"steps: [{if: \"contains(needs.*.result, 'failure')\", run: exit 1}, {run: ./say}]": {},
		"{env: {R: '${{ toJSON(needs) }}'}, steps: [{run: 'echo \"$R\" | jq -e .'}]}":       {},
		"steps: [{uses: re-actors/alls-green@v1, with: {jobs: '${{ toJSON(needs) }}'}}]":    {},
		"steps: [{if: \"contains(needs.*.result, 'x')\", run: exit 1}, {run: exit 0}]":      {},
		"steps: [{run: exit 0}]": {},
		"steps: [{run: 'test \"${{ needs.a.result }}\"'}, {uses: actions/checkout@v4}]":             {Code: true},
		"steps: [{run: 'docker run ${{ needs.a.outputs.image }} ${{ needs.a.result }}'}]":           {Code: true},
		"steps: [{uses: actions/download-artifact@v4}, {run: './x ${{ needs.a.result }}'}]":         {Code: true},
		"{if: \"always() && needs.a.result == 'success'\", steps: [{run: docker run x make test}]}": {Code: true},
		"steps: [{uses: actions/checkout@v4, with: {ref: '${{ github.head_ref }}'}}]":               {Code: true, Head: true},
		"steps: [{uses: actions/checkout@v4, with: {ref: refs/pull/1/merge}}]":                      {Code: true, Head: true},
		"steps: [{uses: actions/checkout@v4, with: {ref: main}}]":                                   {Code: true},
		"steps: [{uses: actions/checkout@v4, env: {X: head}}]":                                      {Code: true},
		"steps: [{run: gh pr checkout 7}]":                                                          {Code: true, Head: true},
		"{uses: ./.github/workflows/t.yml, with: {sha: '${{ github.event.pull_request.head.sha }}'}}": {Code: true,
			Head: true, Calls: called},
	} {
		f := ReadFile(ciPath, []byte("on: push\njobs:\n  test:\n    "+strings.ReplaceAll(job, "\n", "\n    ")+"\n"))
		want.Name = "test"
		if d := cmp.Diff([]Job{want}, f.Jobs); d != "" || f.Unread {
			t.Errorf("%s: unread %t %s", job, f.Unread, d)
		}
	}
}

func TestJobOfName(t *testing.T) {
	f := ReadFile(ciPath, []byte(`on: push
jobs:
  label: {steps: [{uses: actions/labeler@v5}]}
  unit: {name: "Test on ${{ matrix.os }}!", steps: [{uses: actions/checkout@v4}]}
  e2e: {steps: [{uses: actions/checkout@v4}]}
  call: {uses: ./.github/workflows/x.yml}
`))
	for name, want := range map[string]bool{"label": false, "label (1)": false, "Test on linux!": true, "e2e (3, x)": true,
		"call / test": true, "Test on linux": true, "whatever": true} { // it is unknown which job the last two are
		if got := f.job(name).Code; got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A condition may depend on the changed files, or on something independent of the change.
func TestConditions(t *testing.T) {
	for cond, want := range map[string]Job{
		"":         {},
		"false":    {},
		"always()": {},
		"github.event.pull_request.draft == false":                                        {Draft: true, Guard: true},
		"${{ !github.event.pull_request.draft }}":                                         {Draft: true, Guard: true},
		"github.event_name != 'pull_request' || github.event.pull_request.draft == false": {Draft: true, Guard: true},
		"github.event_name == 'push' || !github.event.pull_request.draft":                 {Draft: true},
		"github.event.pull_request.user.type != 'Bot'":                                    {Guard: true},
		"github.actor != 'dependabot[bot]'":                                               {Guard: true},
		"github.actor != 'dependabot[bot]' && vars.RUN == '1'":                            {},
		"contains(github.event.pull_request.labels.*.name, 'e2e')":                        {},
		"needs.changes.outputs.src == 'true'":                                             {Part: true},
		"needs['changes'].outputs.src == 'true' && !github.event.pull_request.draft":      {Part: true, Draft: true},
		"github.event.action == 'opened'":                                                 {Part: true},
		"needs.build.result == 'success'":                                                 {},
		"github.ref == 'refs/heads/main'":                                                 {},
	} {
		f := ReadFile(ciPath, []byte(fmt.Sprintf("on: push\njobs:\n  test: {if: %q}\n", cond)))
		want.Name = "test"
		if d := cmp.Diff([]Job{want}, f.Jobs); d != "" {
			t.Errorf("%s: %s", cond, d)
		}
	}
}

// The needs of a job are names, also of indirect needs; jobs that may fail are left out.
func TestNeedsOfFile(t *testing.T) {
	f := ReadFile(ciPath, []byte(`on: push
jobs:
  build: {name: Build it}
  unit: {name: "Test on ${{ matrix.os }}", needs: build}
  docs: {continue-on-error: true}
  slow: {continue-on-error: "${{ matrix.new }}"}
  fast: {continue-on-error: false}
  lint: {}
  loop: {needs: [again]}
  again: {needs: [loop]}
  ok: {needs: [unit, docs, slow, fast, gone]}
  green: {needs: [lint, fast], steps: [{uses: re-actors/alls-green@v1, with: {allowed-failures: "docs, lint"}}]}
`))
	for name, want := range map[string][]string{"ok": {"Test on ${{ matrix.os }}", "fast", "Build it"},
		"Test on linux": {"Build it"}, "green": {"fast"}, "loop": {"again", "loop"}, "lint": nil, "whatever": nil} {
		if d := cmp.Diff(want, f.needs(name)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A file that can't be parsed may run for any event, and do anything.
func TestUnreadFiles(t *testing.T) {
	bomb := "a0: &a0 [x]\n"
	for i := range 40 {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	for name, text := range map[string]string{
		"empty":          "",
		"no YAML":        "on: [push\njobs",
		"a list":         "- on: push",
		"no jobs":        "on: push",
		"no triggers":    "on: {}" + aJob,
		"without on":     "name: x" + aJob,
		"a number":       "on: 3\njobs: 4",
		"two documents":  "on: push" + aJob + "---\non: push" + aJob,
		"no text":        "on: push" + aJob + "\xff",
		"too large":      "on: push" + aJob + strings.Repeat("#"+strings.Repeat("x", 99)+"\n", 30_000),
		"too many lines": "on: push" + aJob + strings.Repeat("\n", 80_000),
		"brackets":       "on: push" + aJob + "x: " + strings.Repeat("[", 1000) + strings.Repeat("]", 1000),
		"items":          "on: push" + aJob + "x:\n  " + strings.Repeat("- ", 1000),
		"aliases":        "on: push" + aJob + bomb,
		"long aliases": "on: push" + aJob + "x: &x " + strings.Repeat("x", 20_000) + "\ny: [" +
			strings.Repeat("*x, ", 5000) + "]\n",
		"an alias of it": "on: push" + aJob + "x: &x {y: *x}\n",
		"keys twice":     "on: push\non: pull_request" + aJob,
	} {
		if d := cmp.Diff(File{Path: ciPath, Unread: true}, ReadFile(ciPath, []byte(text))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func FuzzReadFile(f *testing.F) {
	f.Add("on: push" + aJob)
	f.Add("on:\n  push: {paths: [a]}\n  pull_request: &x\n    types: [opened]\n  pull_request_target: *x" + aJob)
	f.Add("on: [push]\njobs: {a: {uses: ./b, with: {c: d}}, e: {name: 'f ${{ g }}', steps: [{run: \"git clone h\"}]}}")
	f.Add("? on\n: push\njobs: !!map\n  a: |\n    b")
	f.Fuzz(func(t *testing.T, text string) {
		got := ReadFile(ciPath, []byte(text))
		if got.Unread == (len(got.Triggers) > 0 && len(got.Jobs) > 0) || got.Gone || got.Path != ciPath {
			t.Errorf("%+v", got)
		}
		if d := cmp.Diff(got, ReadFile(ciPath, []byte(text))); d != "" {
			t.Errorf("read again: %s", d)
		}
		for _, j := range got.Jobs {
			if does := got.job(j.Name); j.Code && !does.Code {
				t.Errorf("%s runs the code, and %+v", j.Name, does)
			}
		}
	})
}
