package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/mine"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// doer records requests, and answers with the record. The real one is tested in app/webhook.
type doer struct {
	mu      sync.Mutex
	said    []string
	refuses lesson.Refused // why no lesson can be shared
	shared  bool           // every lesson is shared
	taken   bool           // and was taken back a moment ago
	head    sia.SHA        // of the last form of a task
}

func (d *doer) note(by sia.Actor, what string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said = append(d.said, by.Login+" "+what)
	return "Heard: " + what, nil
}

func (d *doer) Say(_ context.Context, by sia.Actor, task sia.TaskID, line string, head sia.SHA) (string, error) {
	d.head = head
	return d.note(by, string(task)+" "+line)
}

func (d *doer) Teach(_ context.Context, by sia.Actor, repo store.Repository, t sia.Teach) (string, error) {
	return d.note(by, repo.String()+" forget "+t.Forget)
}

func (d *doer) EditLesson(
	_ context.Context, by sia.Actor, repo store.Repository, id lesson.ID, draft lesson.Draft,
) (lesson.Lesson, error) {
	if draft.Text == "" {
		return lesson.Lesson{}, lesson.Refused("It is empty.")
	}
	if draft.Seen == "old" {
		now := lesson.NewTaught(repo.ID, repo.Name, "what somebody else wrote", sia.Actor{}, sia.Task{}, start)
		return lesson.Lesson{}, &lesson.StaleError{Now: now}
	}
	_, err := d.note(by, repo.String()+" edit "+string(id)+" "+draft.Text)
	return lesson.Lesson{ID: id, State: lesson.Active}, err
}

func (d *doer) Halt(_ context.Context, by sia.Actor, _ int64) (string, error) {
	return d.note(by, "halt")
}
func (d *doer) Lift(_ context.Context, by sia.Actor, _ int64) (string, error) {
	return d.note(by, "lift")
}

func (d *doer) SetUpAgain(_ context.Context, by sia.Actor, _ int64, repos []sia.Repo) (string, error) {
	return d.note(by, fmt.Sprint("set up again: ", repos))
}

func (d *doer) ProposeSettings(_ context.Context, by sia.Actor, repo store.Repository) (string, error) {
	return d.note(by, "propose settings: "+repo.String())
}

func (d *doer) Shareable(_ context.Context, _ int64, _ lesson.ID) (store.SharedLesson, bool, error) {
	if d.refuses != "" {
		return store.SharedLesson{}, false, d.refuses
	}
	return store.SharedLesson{Lesson: lesson.Lesson{ID: "shared"}}, d.shared, nil
}

func (d *doer) Share(_ context.Context, _ int64, id lesson.ID, by string) (store.SharedLesson, bool, error) {
	_, err := d.note(sia.Actor{Login: by}, "share "+string(id))
	return store.SharedLesson{}, true, err
}

func (d *doer) Unshare(_ context.Context, installation int64, id lesson.ID, by string) (
	was store.SharedLesson, out store.Unshared, err error,
) {
	if d.taken {
		return was, out, lesson.Refused("it is not shared")
	}
	d.taken = true
	_, err = d.note(sia.Actor{Login: by}, fmt.Sprintf("unshare %s in %d", id, installation))
	return was, store.Unshared{Removed: 2}, err
}

// defaults are in force everywhere.
type defaults struct{}

func (defaults) Kept(context.Context, int64, sia.Repo) (sia.InForce, bool, error) {
	return sia.InForce{Settings: sia.DefaultSettings()}, true, nil
}

// Probed returns results for two models.
func (defaults) Probed() []llm.Probed {
	return []llm.Probed{
		{Name: "fast", Model: "gpt-5.4-mini", Protocol: llm.ProtocolResponses, Tools: true, Cached: true, Usable: true,
			At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)},
		{Name: "local", Model: "gemma3", Protocol: llm.ProtocolChat,
			Advice: "The endpoint says: gemma3 does not support tools.",
			At:     time.Date(2026, 3, 1, 12, 0, 5, 0, time.UTC)},
	}
}

// InForce returns the shipped policies.
func (defaults) InForce(context.Context, store.Repository) (*policies.Set, error) {
	return policies.ShippedSet(), nil
}

// Mined treats every existing outcome as known.
func (defaults) Mined(ds []sia.Decision) (known []mine.Decision) {
	for _, d := range ds {
		if d.Outcome != "" {
			known = append(known, mine.Decision{Task: string(d.Task), Type: policies.Type(d.Type), Choice: d.Choice,
				Resolved: d.Outcome == "resolved"})
		}
	}
	return known
}

// as adds a viewer to requests, as signing in would.
func as(v viewer.Viewer, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(viewer.With(r.Context(), v)))
	})
}

// form is the content of a button or a form.
func form(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}
