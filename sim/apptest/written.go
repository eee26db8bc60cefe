package apptest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// Written is everything that the application has written so far, by place: on GitHub, in Git, and in its records of
// tasks. Texts of people, the check runner and GitHub are left out.
func (s *Stage) Written() map[string]string {
	s.t.Helper()
	out := map[string]string{}
	issues, err := s.Sim.Issues(Repo)
	s.must(err)
	for _, i := range issues {
		where := fmt.Sprintf("#%d ", i.Number)
		if i.Author == Bot {
			out[where+"title and text"] = i.Title + "\n" + i.Body
		}
		out[where+"labels"] = strings.Join(i.Labels, "\n")
		for _, c := range i.Comments {
			if c.Author == Bot {
				out[fmt.Sprintf("%scomment %d", where, c.ID)] = c.Body
			}
		}
	}
	for _, sha := range append(s.heads(Repo, "sia/issue-"), s.heads(Repo, "main")...) {
		runs, err := s.Sim.CheckRuns(Repo, sha)
		s.must(err)
		for _, r := range runs {
			if r.App == Slug {
				out[fmt.Sprintf("check run %d", r.ID)] = strings.Join([]string{r.Name, r.ExternalID, r.Title, r.Summary, r.Text},
					"\n")
			}
		}
	}
	branches, err := s.Sim.Branches(Repo)
	s.must(err)
	for name := range branches {
		out["branch "+name] = name
	}
	out["commits"] = added(s.git("log", "--all", "--not", "main", "-p", "-U0", "--format=%an %ae%n%B"))
	for _, t := range s.tasks() {
		s.records(out, string(t.ID)+" task", t)
		events, err := s.App.Store.Events(context.Background(), t.ID)
		s.must(err)
		s.records(out, string(t.ID)+" events", events)
		for _, a := range t.Attempts {
			turns, err := s.App.Store.Turns(context.Background(), t.ID, a.Number)
			s.must(err)
			s.records(out, fmt.Sprintf("%s attempt %d transcript", t.ID, a.Number), turns)
			for _, kind := range []string{"diff", "ended", "result"} {
				text, _ := s.App.Store.Text(context.Background(), t.ID, a.Number, kind) // not every attempt has one
				out[fmt.Sprintf("%s attempt %d %s", t.ID, a.Number, kind)] = text
			}
		}
	}
	return out
}

func (s *Stage) records(out map[string]string, where string, v any) {
	s.t.Helper()
	b, err := json.Marshal(v)
	s.must(err)
	out[where] = string(b)
}

// added is a log with patches without the removed lines of commits.
func added(log string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, "-") {
			b.WriteString(line)
		}
	}
	return b.String()
}
