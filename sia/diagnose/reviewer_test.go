package diagnose_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/llm/scripted"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
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
