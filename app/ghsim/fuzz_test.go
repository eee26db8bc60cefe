package ghsim

import (
	"strings"
	"testing"
	"time"
)

func FuzzWorkflow(f *testing.F) {
	f.Add("on: push\njobs: {a: {steps: [{run: x}]}}")
	f.Add("on: {push: {branches: ['!a', 'b/**']}}\njobs: {a: {needs: [b], strategy: {matrix: {x: [1, 2]}}, steps: [{uses: y}]}, b: {steps: [{run: z}]}}")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := parseWorkflow([]byte(text))
		if err != nil {
			return
		}
		w.triggered("push", "main")
		w.triggered("pull_request", "main")
		plans, err := w.plans()
		if err == nil && len(plans) < len(w.Jobs) {
			t.Errorf("%d plans for %d jobs", len(plans), len(w.Jobs))
		}
	})
}

func FuzzCondition(f *testing.F) {
	f.Add("always() && github.ref == 'refs/heads/main'")
	f.Add("${{ !failure() || env.X }}")
	f.Fuzz(func(t *testing.T, text string) {
		condition(text, true, func(string) string { return "x" })
		expand(text, func(s string) string { return s })
	})
}

func FuzzTick(f *testing.F) {
	f.Add("- [ ] A\n- [x] B", "A")
	f.Fuzz(func(t *testing.T, body, which string) {
		out, err := tick(body, which)
		if err == nil && len(out) != len(body) {
			t.Errorf("ticking changed the length from %d to %d", len(body), len(out))
		}
	})
}

func FuzzMarkdown(f *testing.F) {
	f.Add("<script>x</script> [a](javascript:b)")
	md := newMarkdown()
	f.Fuzz(func(t *testing.T, text string) {
		if out := strings.ToLower(string(md.render(text))); strings.Contains(out, "<script") {
			t.Errorf("rendered %q", out)
		}
	})
}

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

func FuzzLabelNames(f *testing.F) {
	f.Add(`{"labels":["a",{"name":"b"}]}`)
	f.Fuzz(func(t *testing.T, raw string) {
		names, err := labelNames([]byte(raw))
		for _, n := range names {
			if err == nil && strings.TrimSpace(n) == "" {
				t.Errorf("blank label from %q", raw)
			}
		}
	})
}

func TestCondition(t *testing.T) {
	value := func(s string) string { return map[string]string{"github.ref": "refs/heads/main", "env.ON": "true"}[s] }
	for _, c := range []struct {
		text   any
		failed bool
		want   bool
	}{
		{nil, false, true}, {nil, true, false}, {"always()", true, true}, {"failure()", false, false}, {"failure()", true, true},
		{"github.ref == 'refs/heads/main'", false, true}, {"${{ github.ref != 'refs/heads/main' }}", false, false},
		{"env.ON && success()", false, true}, {"env.OFF || env.ON", false, true}, {"!cancelled()", true, true}, {true, false, true}, {false, false, false},
	} {
		if got := condition(c.text, c.failed, value); got != c.want {
			t.Errorf("condition(%v, failed %v) is %v", c.text, c.failed, got)
		}
	}
}
