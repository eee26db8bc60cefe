package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/visible"
)

// attemptPage is one attempt with its transcript.
type attemptPage struct {
	sia.Task `json:"-"`
	ID       sia.TaskID   `json:"task"`
	This     sia.Attempt  `json:"attempt"`
	Running  bool         `json:"running"`
	Turns    []agent.Turn `json:"turns"`
	LastTest *lastTest    `json:"last_test,omitempty"`  // nil: no test run yet
	Memory   string       `json:"memory_url,omitempty"` // transcript; empty while the attempt runs
	Session  []turnView   `json:"-"`
	Now      *turnView    `json:"-"` // the last turn of a running attempt; nil: none
	Diff     *diffView    `json:"-"` // nil: it pushed nothing
}

// Answers counts the model's answers.
func (p attemptPage) Answers() (n int) {
	for _, t := range p.Turns {
		if t.Kind == agent.TurnModel {
			n++
		}
	}
	return n
}

// Finished is the last test run, if no turn shown above contains it.
func (p attemptPage) Finished() *lastTest {
	if p.Now != nil && p.LastTest != nil && p.LastTest.ID == p.Now.ID {
		return nil
	}
	return p.LastTest
}

// Ledger lists the attempt's notes for its successor, one line per entry.
func (p attemptPage) Ledger() (lines []string) {
	for _, l := range p.This.Ledger.Lines() {
		lines = append(lines, visible.Text(secret.Mask(l)))
	}
	return lines
}

// Dropped counts the entries that were not confirmed; empty: none.
func (p attemptPage) Dropped() string {
	if l := p.This.Ledger; l != nil && l.Dropped > 0 {
		return text.Count(l.Dropped, "claim") + " without a trace left out"
	}
	return ""
}

// lastTest is the last test run in an attempt, as its coder saw it.
type lastTest struct {
	ID      string `json:"-"` // of its turn on the page
	Turn    int    `json:"turn"`
	Command string `json:"command"`
	Result  string `json:"result"`
}

// shownResult is how many characters at the end of a test's output are shown.
const shownResult = 2000

// lastTestOf finds the last call of the tool that runs commands; nil if there was none.
func lastTestOf(turns []agent.Turn) *lastTest {
	for _, t := range slices.Backward(turns) {
		for _, c := range slices.Backward(t.Calls) {
			var args struct {
				Command string `json:"command"`
			}
			if c.Name == tool.NameTest {
				args.Command = "the repository's tests"
			} else if c.Name != tool.NameRun || json.Unmarshal([]byte(c.Arguments), &args) != nil {
				continue
			}
			result := strings.TrimSpace(visible.Text(secret.Mask(c.Result))) // it is no Markdown
			if over := len(result) - shownResult; over > 0 {
				result = "…" + strings.ToValidUTF8(result[over:], "")
			}
			return &lastTest{turnID(t), t.Number, text.Clip(visible.Text(secret.Mask(args.Command)), 300), result}
		}
	}
	return nil
}

func (s *site) attempt(r *http.Request) (frame, error) {
	t, err := s.theTask(r, viewer.Reads)
	id := t.ID
	if err != nil {
		return frame{}, err
	}
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || n < 1 || n > len(t.Attempts) {
		return frame{}, fmt.Errorf("attempt %q of task %s: %w", r.PathValue("n"), id, store.ErrNotFound)
	}
	p := attemptPage{Task: t, ID: id, This: t.Attempts[n-1]}
	p.Running = p.This.EndedAt.IsZero() && t.State == sia.Working && n == len(t.Attempts)
	if !p.Running {
		p.Memory = s.Links.Transcript(t, n)
	}
	rows, err := s.From.Turns(r.Context(), id, n)
	if err != nil {
		return frame{}, err
	}
	turns, err := agent.Turns(rows)
	if err != nil {
		return frame{}, fmt.Errorf("attempt %d of task %s: %w", n, id, err)
	}
	p.LastTest = lastTestOf(turns)
	for _, t := range turns {
		t.Opaque = nil // only for the model
		p.Turns = append(p.Turns, t.Masked(secret.Mask))
	}
	p.Session = session(p.Turns, p.This.StartedAt)
	if n := len(p.Session); p.Running && n > 0 && p.Session[n-1].Kind == agent.TurnModel {
		p.Now = p.Session[n-1].again()
	}
	if p.Diff, err = s.diff(r.Context(), t, p.This); err != nil {
		return frame{}, err
	}
	return frame{Title: fmt.Sprintf("Attempt %d at %s#%d", n, t.Repo, t.Issue), Live: p.Running, About: id, Body: p}, nil
}
