package runner

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

func FuzzWorkflow(f *testing.F) {
	f.Add("on: push\njobs: {a: {steps: [{run: x}]}}")
	f.Add("on: {push: {branches: ['!a', 'b/**']}}\n" +
		"jobs: {a: {needs: [b], strategy: {matrix: {x: [1, 2]}}, steps: [{uses: y}]}, b: {steps: [{run: z}]}}")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := Parse([]byte(text))
		if err != nil {
			return
		}
		w.triggered(pushTo("main"))
		w.triggered(pullRequestInto("main"))
		jobs, err := w.jobs(pushTo("main").github())
		if err == nil && len(jobs) < len(w.file.Jobs) {
			t.Errorf("%d jobs are planned of %d", len(jobs), len(w.file.Jobs))
		}
	})
}

func FuzzCondition(f *testing.F) {
	f.Add("always() && github.ref == 'refs/heads/main'")
	f.Add("${{ !failure() || env.X }}")
	f.Fuzz(func(t *testing.T, text string) {
		s := scope{failed: true, contexts: map[string]any{"github": map[string]any{"ref": "x", "list": []any{"y", 1.0}}}}
		_, _ = condition(text, s)
		expand(text, s)
		truth(text, s)
	})
}

var logStamp = regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+Z `)

func FuzzRunLog(f *testing.F) {
	f.Add("::error file=a.go,line=3,col=1::x%0Ay\n::group::g\nplain")
	f.Fuzz(func(t *testing.T, text string) {
		l := &runLog{now: func() time.Time { return time.Unix(0, 0) }}
		l.Write([]byte(text))
		l.flush()
		for line := range strings.Lines(l.buf.String()) {
			if !logStamp.MatchString(line) {
				t.Errorf("line without a time stamp: %q", line)
			}
		}
	})
}
