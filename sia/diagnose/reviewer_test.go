package diagnose_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sim/scripted"
)

func TestReview(t *testing.T) {
	pack := diagnose.ReviewPackage{
		Title: "Send an email", Body: "Please.", Technique: sia.AbstractionLevelShift, Prompt: "Put an interface in front.",
		Failures: []sia.CheckFailure{{Check: "test", Excerpt: "MAIL_API_KEY is not set"}},
	}
	verdict := func(v string, points ...string) scripted.Answer {
		return scripted.Answer{JSON: map[string]any{"verdict": v, "points": append([]string{}, points...)}}
	}
	for _, tt := range []struct {
		name    string
		turns   []scripted.Answer
		want    sia.Review
		amended string
	}{
		{"approved", []scripted.Answer{verdict("approved")}, sia.Review{Verdict: sia.Approved}, ""},
		{"minor", []scripted.Answer{verdict("minor", " name \n the file ")},
			sia.Review{Verdict: sia.Minor, Points: []string{"name the file"}},
			"Put an interface in front.\n\nAn independent review of these instructions adds; where the two differ, this " +
				"holds:\n\n- name the file"},
		{"minor, without a word", []scripted.Answer{verdict("minor")}, sia.Review{Verdict: sia.Minor}, ""},
		{"major", []scripted.Answer{verdict("major", "Name the file.", "", "Keep the test.")},
			sia.Review{Verdict: sia.Major, Points: []string{"Name the file.", "Keep the test."}},
			"Put an interface in front.\n\nAn independent review of these instructions adds; where the two differ, this " +
				"holds:\n\n- Name the file.\n- Keep the test."},
		{"rejected", []scripted.Answer{verdict("rejected", "It can't work.")},
			sia.Review{Verdict: sia.Rejected, Points: []string{"It can't work."}}, ""},
		{"repaired", []scripted.Answer{verdict("major"), verdict("minor", "x")},
			sia.Review{Verdict: sia.Minor, Points: []string{"x"}},
			"Put an interface in front.\n\nAn independent review of these instructions adds; where the two differ, this " +
				"holds:\n\n- x"},
		{"unknown verdict", []scripted.Answer{verdict("splendid"), verdict("approved")}, sia.Review{Verdict: sia.Approved},
			""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, s := model(t, tt.turns...)
			r := diagnose.Reviewer{Model: m}
			got, amended, usage, err := r.Review(t.Context(), pack)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got) + cmp.Diff(tt.amended, amended); d != "" {
				t.Error(d)
			}
			if usage.Input == 0 || len(s.Requests()) != len(tt.turns) {
				t.Errorf("usage %+v, %d requests", usage, len(s.Requests()))
			}
			user := s.Requests()[0].User()
			for _, words := range []string{"MAIL_API_KEY is not set", "Put an interface in front.", "abstraction-level-shift",
				"Send an email"} {
				if !strings.Contains(user, words) {
					t.Errorf("the reviewer was not shown %q", words)
				}
			}
			if strings.Contains(user, "protected paths") {
				t.Error("there is no such diff")
			}
		})
	}
	for name, turn := range map[string]scripted.Answer{
		"down":     {Fault: &scripted.Fault{Status: 500}},
		"nonsense": {Text: "fine by me"},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := model(t, turn, turn)
			r := diagnose.Reviewer{Model: m}
			got, amended, _, err := r.Review(t.Context(), pack)
			if err != nil || got.Verdict != sia.ReviewFailed || len(got.Points) != 1 || got.Points[0] == "" || amended != "" {
				t.Errorf("%+v, %q, %v", got, amended, err)
			}
		})
	}
}

// A reviewer that cannot decide gets the files that it requests, once, and then decides.
func TestReviewAsksOnce(t *testing.T) {
	pack := diagnose.ReviewPackage{Title: "Send an email", Technique: sia.AbstractionLevelShift,
		Prompt: "Put an interface in front.", Read: tree{"mail/send.go": "package mail\n\nfunc Send() {}\n"}.read}
	unclear := scripted.Answer{JSON: map[string]any{"verdict": "unclear", "points": []string{},
		"context": []string{"mail/send.go:3-9", "mail/gone.go"}}}
	asksNothing := scripted.Answer{JSON: map[string]any{"verdict": "unclear", "points": []string{}, "context": []string{}}}
	minor := scripted.Answer{JSON: map[string]any{"verdict": "minor", "points": []string{"Send has no error."}}}
	for name, c := range map[string]struct {
		turns []scripted.Answer
		want  sia.Verdict
		calls int
	}{
		"then it decides":           {[]scripted.Answer{unclear, minor}, sia.Minor, 2},
		"then it is told to":        {[]scripted.Answer{unclear, unclear, minor}, sia.Minor, 3},
		"it never decides":          {[]scripted.Answer{unclear, unclear, unclear}, sia.ReviewFailed, 3},
		"it names nothing at first": {[]scripted.Answer{asksNothing, minor}, sia.Minor, 2},
		"it decides without asking": {[]scripted.Answer{minor}, sia.Minor, 1},
		"the model is down meanwhile": {[]scripted.Answer{unclear, {Fault: &scripted.Fault{Status: 500}}},
			sia.ReviewFailed, 2},
	} {
		t.Run(name, func(t *testing.T) {
			m, s := model(t, c.turns...)
			r := diagnose.Reviewer{Model: m}
			got, _, usage, err := r.Review(t.Context(), pack)
			if err != nil || got.Verdict != c.want || len(s.Requests()) != c.calls || usage.Input == 0 {
				t.Fatalf("%+v after %d calls, usage %+v, %v", got, len(s.Requests()), usage, err)
			}
			if c.turns[0].JSON.(map[string]any)["verdict"] != "unclear" || name == "it names nothing at first" {
				return
			}
			user := s.Requests()[1].User()
			if !strings.Contains(user, "## mail/send.go:3-9\n\n```text\nfunc Send() {}\n```") ||
				strings.Contains(user, "package mail") || !strings.Contains(user, "## mail/gone.go\n\n(there is no such file") {
				t.Errorf("the reviewer was shown:\n%s", user)
			}
		})
	}
	pack.Read = nil
	m, s := model(t, unclear, minor)
	r := diagnose.Reviewer{Model: m}
	if got, _, _, err := r.Review(t.Context(), pack); err != nil || got.Verdict != sia.Minor ||
		strings.Contains(s.Requests()[0].System(), "unclear") {
		t.Errorf("where nothing can be read: %+v, %v", got, err)
	}
}

// The instructions to review are shown in full up to their maximum length, in any script.
func TestReviewShowsTheInstructionsWhole(t *testing.T) {
	long := strings.Repeat("Не меняй проверки и тесты. ", 290) + "Last of all, delete the failing test."
	m, s := model(t, scripted.Answer{JSON: map[string]any{"verdict": "rejected", "points": []string{"No."}}})
	r := diagnose.Reviewer{Model: m}
	_, _, _, err := r.Review(t.Context(), diagnose.ReviewPackage{Title: "Send an email",
		Body: strings.Repeat("Please. ", 5000), Diff: strings.Repeat("+x\n", 20_000),
		Technique: sia.AbstractionLevelShift, Prompt: long,
		Failures: []sia.CheckFailure{{Check: "test", Excerpt: strings.Repeat("MAIL_API_KEY is not set\n", 2000)}}})
	user := s.Requests()[0].User()
	if err != nil || !strings.Contains(user, "delete the failing test") {
		t.Errorf("%v; the end of the instructions is not shown", err)
	}
	if n := len(user) + len(s.Requests()[0].System()); n > 12_000*3 {
		t.Errorf("the prompt has %d bytes", n)
	}
	for _, words := range []string{"Please.", "MAIL_API_KEY", "abstraction-level-shift", "+x\n+x"} {
		if !strings.Contains(user, words) {
			t.Errorf("%q is not shown", words)
		}
	}
}
