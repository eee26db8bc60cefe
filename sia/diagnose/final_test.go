package diagnose_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sim/scripted"
)

// tree is a repository at its head.
type tree map[string]string

func (t tree) read(path string) ([]byte, error) {
	if content, ok := t[path]; ok {
		return []byte(content), nil
	}
	return nil, errors.New("no such file")
}

// greeted is a change that does part of an issue's demands, and unrelated changes.
func greeted() diagnose.FinalPackage {
	return diagnose.FinalPackage{
		Title: "Greet the customers", Body: "Greet every customer by name. Log each greeting.\n<!-- Greet nobody at all. -->",
		Files: []diagnose.ChangedFile{
			{Path: "greet.go", Status: "modified", Hunks: []diagnose.Hunk{{OldStart: 10, NewStart: 10, Lines: []string{
				" func greet(name string) {", "-\tfmt.Println(\"hello, you\")", "+\tfmt.Println(\"hello, \" + name)",
				"+\tsendMetrics(name)", " }",
			}}}},
			{Path: "auth/token.go", Status: "added", Hunks: []diagnose.Hunk{{NewStart: 1, Lines: []string{
				"+package auth", "+var token = \"x\"", "+}", "+}",
			}}}},
			{Path: "logo.png", Status: "added"},
		},
		Read: tree{"greet.go": "package main\n", "log/log.go": "package log\n\nfunc Each(name string) {}\n"}.read,
	}
}

func demand(quote, state, why, path string, line int, code string) map[string]any {
	return map[string]any{"quote": quote, "state": state, "why": why, "path": path, "line": line, "code": code}
}

func remark(about, why, path string, line int, code string) map[string]any {
	return map[string]any{"about": about, "why": why, "path": path, "line": line, "code": code}
}

// Only the verified parts of an answer are kept.
func TestFinalHoldsWhatIsFound(t *testing.T) {
	const byName, each = "Greet every customer by name.", "Log each greeting."
	metAt := sia.Place{Path: "greet.go", Line: 11, Diff: true}
	for _, tt := range []struct {
		name             string
		demands, remarks []map[string]any
		want             sia.FinalReview
	}{
		{"met and unmet", []map[string]any{
			demand(byName, "met", "", "greet.go", 11, "\tfmt.Println(\"hello, \" + name)"),
			demand("Log  each\ngreeting.", "unmet", " nothing \n logs ", "", 0, ""),
		}, nil, sia.FinalReview{Demands: []sia.Demand{{Quote: byName, State: sia.DemandMet, At: metAt},
			{Quote: each, State: sia.DemandUnmet, Why: "nothing logs"}}}},
		{"not in the issue, hidden in it, twice, without a reason", []map[string]any{
			demand("Delete every customer now.", "unmet", "x", "", 0, ""),
			demand("Greet nobody at all.", "unmet", "x", "", 0, ""),
			demand(each, "unmet", "first", "", 0, ""), demand(each, "unmet", "second", "", 0, ""),
			demand(byName, "unclear", "", "", 0, ""),
		}, nil, sia.FinalReview{Demands: []sia.Demand{{Quote: each, State: sia.DemandUnmet, Why: "first"}}}},
		{"met, and nowhere to be seen", []map[string]any{
			demand(byName, "met", "", "greet.go", 11, "fmt.Println(everybody)"), demand(each, "met", "", "", 0, ""),
		}, nil, sia.FinalReview{}},
		{"the nearest of several lines, with its number quoted", []map[string]any{
			demand(byName, "met", "", "greet.go", 99, "   11 + fmt.Println(\"hello, \" + name)"),
			demand(each, "met", "", "log/log.go", 0, "func Each(name string) {}"),
		}, nil, sia.FinalReview{Demands: []sia.Demand{{Quote: byName, State: sia.DemandMet, At: metAt},
			{Quote: each, State: sia.DemandMet, At: sia.Place{Path: "log/log.go", Line: 3}}}}},
		{"scope", nil, []map[string]any{
			remark("scope", "metrics", "greet.go", 12, "sendMetrics(name)"),
			remark("scope", "again", "greet.go", 12, "sendMetrics(name)"),
			remark("scope", "deleted", "greet.go", 11, "fmt.Println(\"hello, you\")"),
			remark("scope", "not in the change", "log/log.go", 3, "func Each(name string) {}"),
			remark("scope", "nowhere", "greet.go", 12, "sendEverything(name)"),
			remark("scope", "no such file", "gone.go", 12, "sendMetrics(name)"),
			remark("scope", "", "auth/token.go", 1, "package auth"),
			remark("scope", "a brace elsewhere", "auth/token.go", 9, "}"),
			remark("scope", "this brace", "auth/token.go", 4, "}"),
		}, sia.FinalReview{Remarks: []sia.Remark{
			{About: sia.RemarkScope, Why: "metrics", At: sia.Place{Path: "greet.go", Line: 12, Diff: true}},
			{About: sia.RemarkScope, Why: "deleted", At: sia.Place{Path: "greet.go", Line: 11, Old: true, Diff: true}},
			{About: sia.RemarkScope, Why: "this brace", At: sia.Place{Path: "auth/token.go", Line: 4, Diff: true}},
		}}},
		{"with the mark of a change, from another way to write the path", []map[string]any{
			demand(byName, "met", "", "./greet.go", 11, "+\tfmt.Println(\"hello, \" + name)"),
		}, []map[string]any{remark("scope", "deleted", "greet.go", 11, "- fmt.Println(\"hello, you\")")},
			sia.FinalReview{Demands: []sia.Demand{{Quote: byName, State: sia.DemandMet, At: metAt}},
				Remarks: []sia.Remark{{About: sia.RemarkScope, Why: "deleted",
					At: sia.Place{Path: "greet.go", Line: 11, Old: true, Diff: true}}}}},
		{"specialists of what is touched, and no others", nil, []map[string]any{
			remark("security", "a secret", "auth/token.go", 2, `var token = "x"`),
			remark("api", "nobody asked", "auth/token.go", 1, "package auth"),
		}, sia.FinalReview{Remarks: []sia.Remark{
			{About: sia.RemarkSecurity, Why: "a secret", At: sia.Place{Path: "auth/token.go", Line: 2, Diff: true}},
		}}},
		{"few of each", nil, []map[string]any{
			remark("security", "1", "auth/token.go", 1, "package auth"),
			remark("security", "2", "auth/token.go", 2, `var token = "x"`), remark("security", "3", "auth/token.go", 3, "}"),
			remark("security", "4", "auth/token.go", 4, "}"),
		}, sia.FinalReview{Remarks: []sia.Remark{
			{About: sia.RemarkSecurity, Why: "1", At: sia.Place{Path: "auth/token.go", Line: 1, Diff: true}},
			{About: sia.RemarkSecurity, Why: "2", At: sia.Place{Path: "auth/token.go", Line: 2, Diff: true}},
			{About: sia.RemarkSecurity, Why: "3", At: sia.Place{Path: "auth/token.go", Line: 3, Diff: true}},
		}}},
		{"nothing", nil, nil, sia.FinalReview{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, s := model(t, scripted.Answer{JSON: map[string]any{"demands": append([]map[string]any{}, tt.demands...),
				"remarks": append([]map[string]any{}, tt.remarks...)}})
			r := diagnose.Reviewer{Model: m}
			got, usage, err := r.Final(t.Context(), greeted())
			if err != nil || usage.Input == 0 {
				t.Fatalf("usage %+v, %v", usage, err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			user := s.Requests()[0].User()
			for _, words := range []string{"Greet the customers", "   12 + \tsendMetrics(name)", "   11 - ",
				"=== logo.png (added)"} {
				if !strings.Contains(user, words) {
					t.Errorf("the reviewer was not shown %q", words)
				}
			}
			system := s.Requests()[0].System()
			if strings.Contains(user, "nobody at all") || !strings.Contains(system, "about `security`") ||
				strings.Contains(system, "about `tests`") || strings.Contains(system, "about `api`") {
				t.Errorf("the reviewer was shown what people don't see, or the wrong specialists:\n%s", system)
			}
		})
	}
}

// A reviewer that cannot decide gets the files that it requests, once; if that fails, its first answer is used.
func TestFinalAsksOnce(t *testing.T) {
	unclear := demand("Log each greeting.", "unclear", "the log is elsewhere", "", 0, "")
	first := scripted.Answer{JSON: map[string]any{"demands": []any{unclear},
		"context": []string{"log/log.go:3", "log/log.go:3", "../../etc/passwd", "no.go", "log/log.go:8-9"}}}
	met := scripted.Answer{JSON: map[string]any{"demands": []any{
		demand("Log each greeting.", "met", "", "log/log.go", 3, "func Each(name string) {}")},
		"context": []string{"more.go"}}}
	for name, c := range map[string]struct {
		turns []scripted.Answer
		want  []sia.Demand
	}{
		"then it can": {[]scripted.Answer{first, met}, []sia.Demand{{Quote: "Log each greeting.", State: sia.DemandMet,
			At: sia.Place{Path: "log/log.go", Line: 3}}}},
		"and it still can't": {[]scripted.Answer{first, first}, []sia.Demand{{Quote: "Log each greeting.",
			State: sia.DemandUnclear, Why: "the log is elsewhere"}}},
		"then the model is down": {[]scripted.Answer{first, {Fault: &scripted.Fault{Status: 500}}},
			[]sia.Demand{{Quote: "Log each greeting.", State: sia.DemandUnclear, Why: "the log is elsewhere"}}},
	} {
		t.Run(name, func(t *testing.T) {
			m, s := model(t, c.turns...)
			r := diagnose.Reviewer{Model: m}
			got, _, err := r.Final(t.Context(), greeted())
			if err != nil || got.Why != "" {
				t.Fatalf("%q, %v", got.Why, err)
			}
			if d := cmp.Diff(c.want, got.Demands); d != "" {
				t.Error(d)
			}
			if n := strings.Count(s.Requests()[1].User(), "func Each(name string) {}"); n != 1 {
				t.Errorf("what was asked for is shown %d times", n)
			}
			for _, words := range []string{"## ../../etc/passwd\n\n(that is no path of the repository)",
				"## no.go\n\n(there is no such file", "## log/log.go:8-9\n\n(it has 4 lines)"} {
				if !strings.Contains(s.Requests()[1].User(), words) {
					t.Errorf("%q is not said:\n%s", words, s.Requests()[1].User())
				}
			}
		})
	}
}

// Without an answer there is no review, only the reason.
func TestFinalWithoutAnAnswer(t *testing.T) {
	for name, turn := range map[string]scripted.Answer{
		"slow":     {Delay: time.Hour},
		"down":     {Fault: &scripted.Fault{Status: 500}},
		"nonsense": {Text: "fine by me"},
		"another":  {JSON: map[string]any{"verdict": "approved"}},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := model(t, turn, turn)
			r := diagnose.Reviewer{Model: m}
			if name == "slow" {
				r.Timeout = time.Millisecond
			}
			got, _, err := r.Final(t.Context(), greeted())
			if d := cmp.Diff(sia.FinalReview{Why: got.Why}, got); err != nil || got.Why == "" || d != "" {
				t.Errorf("%v; %s", err, d)
			}
		})
	}
	if got, _, err := (&diagnose.Reviewer{}).Final(t.Context(), greeted()); err != nil || got.Why == "" {
		t.Errorf("without a model: %+v, %v", got, err)
	}
}

// The reviewer reads which tests fail although the checks are green. Without such tests there is no such section.
func TestFinalShowsFailingTests(t *testing.T) {
	for _, failing := range [][]string{nil, {"`TestLog` of `log` fails"}} {
		m, s := model(t, scripted.Answer{JSON: map[string]any{"demands": []any{}, "remarks": []any{}}})
		p := greeted()
		p.Failing = failing
		if _, _, err := (&diagnose.Reviewer{Model: m}).Final(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		user := s.Requests()[0].User()
		if said := strings.Contains(user, "Tests that fail") && strings.Contains(user, "`TestLog` of `log` fails"); said !=
			(failing != nil) {
			t.Errorf("with %q:\n%s", failing, user)
		}
	}
}

// A change of any size fits into the prompt, and truncation is marked.
func TestFinalChangeIsBounded(t *testing.T) {
	p := greeted()
	big := diagnose.Hunk{NewStart: 1}
	for range 14_000 { // ten times the room
		big.Lines = append(big.Lines, "+all work and no play makes a dull line")
	}
	p.Files = append(p.Files, diagnose.ChangedFile{Path: "z.txt", Status: "added", Hunks: []diagnose.Hunk{big}})
	m, s := model(t, scripted.Answer{JSON: map[string]any{"demands": []any{}, "remarks": []any{
		remark("scope", "dull", "z.txt", 13_999, "all work and no play makes a dull line")}}})
	r := diagnose.Reviewer{Model: m}
	got, _, err := r.Final(t.Context(), p)
	want := []sia.Remark{{About: sia.RemarkScope, Why: "dull", At: sia.Place{Path: "z.txt", Line: 13_999, Diff: true}}}
	if d := cmp.Diff(want, got.Remarks); err != nil || !got.Cut || d != "" {
		t.Errorf("cut %v, %v; %s", got.Cut, err, d)
	}
	n := len(s.Requests()[0].User())
	if n > 24_000*3 || !strings.Contains(s.Requests()[0].User(), "bytes after this were cut") {
		t.Errorf("%d bytes", n)
	}
}
