package gate

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
)

// The patterns are those of GitHub's table.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#patterns-to-match-file-paths
func TestPaths(t *testing.T) {
	for _, c := range []struct {
		wanted, ignored string
		changed         string
		want            bool
	}{
		{"*", "", "README.md", true},
		{"*", "", "src/a.js", false},
		{"**", "", "all/the/files.md", true},
		{"*.jsx?", "", "page.js", true},
		{"*.jsx?", "", "page.jsx", true},
		{"*.jsx?", "", "page.ts", false},
		{"*.js", "", "src/app.js", false},
		{"**.js", "", "src/js/app.js", true},
		{"docs/*", "", "docs/file.txt", true},
		{"docs/*", "", "docs/a/file.txt", false},
		{"docs/**", "", "docs/mona/octocat.txt", true},
		{"docs/**/*.md", "", "docs/README.md", true},
		{"docs/**/*.md", "", "docs/a/markdown/file.md", true},
		{"**/docs/**", "", "docs/hello.md", true},
		{"**/docs/**", "", "space/docs/plan/space.doc", true},
		{"**/README.md", "", "js/README.md", true},
		{"**/*src/**", "", "my-src/code/js/app.js", true},
		{"**/*-post.md", "", "path/their-post.md", true},
		{"src/v[0-9]+.go", "", "src/v12.go", true},
		{"src/v[0-9]+.go", "", "src/v.go", false},
		{`src/\*.go`, "", "src/*.go", true},
		{`src/\*.go`, "", "src/a.go", false},
		{"src/é/**", "", "src/é/a", true},
		{"src/** !src/docs/**", "", "src/docs/a.md", false},
		{"src/** !src/docs/**", "", "src/docs/a.md src/a.go", true},
		{"src/** !src/docs/** src/docs/a.md", "", "src/docs/a.md", true},
		{"!src/docs/** src/**", "", "src/docs/a.md", true},
		{"?", "", "a", false},
		{"src/(a|b)", "", "src/a", false},
		{"", "docs/**", "docs/a.md", false},
		{"", "docs/**", "docs/a.md src/a.go", true},
		{"", "docs/** ?x", "src/a.go", false},
		{strings.Repeat("src/** ", 10*maxPatterns), "", "src/a.go", false},
		{"src/**", "", "", false},
		{strings.Repeat("**/", 300) + "z", "", strings.Repeat("a/", 2000), false},
	} {
		p := Paths{strings.Fields(c.wanted), strings.Fields(c.ignored)}
		if got := p.matches(strings.Fields(c.changed)); got != c.want {
			t.Errorf("paths %.40q, ignored %q: %.40q is let through: %t", c.wanted, c.ignored, c.changed, got)
		}
	}
}

// A workflow with a filter that the pull request's change matches is missed like one without a filter.
func TestMissedByPath(t *testing.T) {
	vercel := run(1, "Vercel", "success")
	on := func(on string, event string, changed ...string) Input {
		in := input(vercel).with().of("on: " + on + "\njobs: {test: {steps: [{uses: actions/checkout@v4}]}}\n")
		in.Earlier, in.Changed = []sia.Reported{ciJob("test", event)}, changed
		return in
	}
	const src, docs = "{pull_request: {paths: ['src/**']}}", "{pull_request: {paths-ignore: ['docs/**']}}"
	judgeAll(t, []row{
		{"the change is of its paths", on(src, "pull_request", "README.md", "src/a.go"), sia.VerdictBlocked,
			"test did not appear"},
		{"the change is of none of them", on(src, "pull_request", "README.md"), sia.VerdictGreen, ""},
		{"not all of the change is ignored", on(docs, "pull_request", "docs/a", "src/a.go"), sia.VerdictBlocked,
			"test did not appear"},
		{"all of the change is ignored", on(docs, "pull_request", "docs/a"), sia.VerdictGreen, ""},
		{"nobody knows the change", on(src, "pull_request"), sia.VerdictGreen, ""},
		{"a push is compared with the one before", on("{push: {paths: ['src/**']}}", "push", "src/a.go"),
			sia.VerdictGreen, ""},
		{"most merged pull requests had it", func() Input {
			in := on(src, "pull_request", "src/a.go")
			in.Earlier, in.History.Merged = nil, [][]sia.Reported{in.Earlier}
			return in
		}(), sia.VerdictBlocked, "merged pull request"},
		{"its types leave out pushes", on("{pull_request: {paths: ['src/**'], types: [labeled]}}", "pull_request",
			"src/a.go"), sia.VerdictGreen, ""},
	})
}
