package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/text"
)

// attemptPage is one attempt with its transcript.
type attemptPage struct {
	sia.Task   `json:"-"`
	ID         sia.TaskID    `json:"task"`
	This       sia.Attempt   `json:"attempt"`
	Running    bool          `json:"running"`
	Turns      []agent.Turn  `json:"turns"`
	LastTest   *lastTest     `json:"last_test,omitempty"`  // nil: it ran none yet
	Memory     string        `json:"memory_url,omitempty"` // of the transcript; empty while the attempt runs
	Transcript template.HTML `json:"-"`                    // sanitised
	Diff       *diffView     `json:"-"`                    // nil: it pushed nothing
}

// lastTest is the last run of tests in an attempt, as its coder saw it.
type lastTest struct {
	Turn    int    `json:"turn"`
	Command string `json:"command"`
	Result  string `json:"result"`
}

// shownResult is how many characters of a test's end are shown.
const shownResult = 2000

// lastTestOf finds the last call of the tool that runs commands; nil: there was none.
func lastTestOf(turns []agent.Turn) *lastTest {
	for _, t := range slices.Backward(turns) {
		for _, c := range slices.Backward(t.Calls) {
			var args struct {
				Command string `json:"command"`
			}
			if c.Name != "run" || json.Unmarshal([]byte(c.Arguments), &args) != nil {
				continue
			}
			result := agent.Sanitize(secret.Mask(c.Result))
			if over := len(result) - shownResult; over > 0 {
				result = "…" + strings.ToValidUTF8(result[over:], "")
			}
			return &lastTest{t.Number, text.Clip(agent.Sanitize(secret.Mask(args.Command)), 300), result}
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
		t.Opaque = nil // for the model alone
		p.Turns = append(p.Turns, t.Masked(secret.Mask))
	}
	if p.Transcript, err = page(agent.Markdown(turns, agent.HeaderOf(t, p.This))); err != nil {
		return frame{}, err
	}
	if p.Diff, err = s.diff(r.Context(), t, p.This); err != nil {
		return frame{}, err
	}
	return frame{Title: fmt.Sprintf("Attempt %d at %s#%d", n, t.Repo, t.Issue), Live: p.Running, About: id, Body: p}, nil
}

var (
	markdown = goldmark.New(goldmark.WithRendererOptions(html.WithUnsafe())) // what is unsafe is taken out below
	harmless = sync.OnceValue(func() *bluemonday.Policy {
		p := bluemonday.NewPolicy()
		p.AllowElements("h1", "h2", "h3", "p", "ul", "ol", "li", "em", "strong", "code", "pre", "blockquote", "details",
			"summary", "hr", "br")
		return p
	})
)

// page is a transcript as HTML. It holds no links and no images: what strangers
// wrote must not be fetched or followed from here.
func page(text string) (template.HTML, error) {
	var b bytes.Buffer
	if err := markdown.Convert([]byte(text), &b); err != nil {
		return "", fmt.Errorf("render transcript: %w", err)
	}
	return template.HTML(harmless().SanitizeBytes(b.Bytes())), nil //nolint:gosec // sanitised here
}
