package web

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// attemptPage is one attempt with its transcript.
type attemptPage struct {
	sia.Task
	This       sia.Attempt
	Running    bool
	Transcript template.HTML // sanitised
	Memory     string        // address of the transcript on the memory branch; empty while the attempt runs
}

func (s *site) attempt(r *http.Request) (frame, error) {
	id := sia.TaskID(r.PathValue("id"))
	t, err := s.from.Task(r.Context(), id)
	if err != nil {
		return frame{}, err
	}
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || n < 1 || n > len(t.Attempts) {
		return frame{}, fmt.Errorf("attempt %q of task %s: %w", r.PathValue("n"), id, store.ErrNotFound)
	}
	p := attemptPage{Task: t, This: t.Attempts[n-1]}
	p.Running = p.This.EndedAt.IsZero() && t.State == sia.Working && n == len(t.Attempts)
	if !p.Running {
		p.Memory = s.links.Transcript(t, n)
	}
	rows, err := s.from.Turns(r.Context(), id, n)
	if err != nil {
		return frame{}, err
	}
	turns, err := agent.Turns(rows)
	if err != nil {
		return frame{}, fmt.Errorf("attempt %d of task %s: %w", n, id, err)
	}
	if p.Transcript, err = page(agent.Markdown(turns, agent.HeaderOf(t, p.This))); err != nil {
		return frame{}, err
	}
	return frame{Title: fmt.Sprintf("Attempt %d at %s#%d", n, t.Repo, t.Issue), Live: p.Running, Body: p}, nil
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
