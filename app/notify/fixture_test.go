package notify_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/notify"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

// fixture is a database, a fixed clock, and a chat.
type fixture struct {
	*store.Store
	t    *testing.T
	url  string // of the database
	chat *chat
	log  strings.Builder
	now  time.Time
}

// A Tuesday, so that days and weeks differ.
var tuesday = time.Date(2026, 3, 3, 7, 0, 0, 0, time.UTC)

func newFixture(t *testing.T) *fixture {
	t.Helper()
	r := &fixture{t: t, url: storetest.SQLite(t), chat: newChat(t), now: tuesday}
	r.Store = storetest.Open(t, store.Config{URL: r.url, Now: func() time.Time { return r.now }})
	return r
}

func (r *fixture) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// notifier returns the notifier of a new process.
func (r *fixture) notifier(c notify.Config) (tell func()) {
	r.t.Helper()
	round := r.rounds(c)
	return func() {
		r.t.Helper()
		r.check(round())
	}
}

// rounds is like notifier; a round may fail.
func (r *fixture) rounds(c notify.Config) (tell func() error) {
	r.t.Helper()
	clock := func() time.Time { return r.now }
	log := slog.New(slog.NewTextHandler(&r.log, nil))
	channels, err := c.Channels(log, clock)
	r.check(err)
	masker := &secret.Masker{}
	for _, s := range c.Secrets() {
		masker.Know("notify", s)
	}
	n := notify.New(r.Store, channels, c.Summary, render.Links{Host: "https://github.com"}, masker,
		log, clock)
	return func() error {
		var all []error
		for _, p := range n.Table() {
			all = append(all, p.Run(r.t.Context()))
		}
		return errors.Join(all...)
	}
}

// apply applies a fact to the task of an issue.
func (r *fixture) apply(issue int, f sia.Fact, effect string) sia.Result {
	r.t.Helper()
	id := sia.NewTaskID(7, issue)
	e := sia.Event{ID: fmt.Sprintf("%s-%s-%d", id, f.Kind(), r.now.UnixNano()), At: r.now, Fact: f, Effect: effect}
	if effect == "" {
		e.By = sia.Actor{Login: "anna", ID: 11}
	}
	res, err := r.Apply(r.t.Context(), id, e)
	r.check(err)
	if res.Ignored != "" {
		r.t.Fatalf("%s was ignored: %s", f.Kind(), res.Ignored)
	}
	return res
}

// start starts the task of an issue and returns its first effect.
func (r *fixture) start(issue int, title string) (effect string) {
	r.t.Helper()
	res := r.apply(issue, sia.Start{Installation: 3, Repo: sia.Repo{ID: 7, Owner: "octo", Name: "demo"}, Issue: issue,
		Title: title, DefaultBranch: "main"}, "")
	for key, kind := range res.Task.Pending {
		if kind == sia.DoBegin {
			return key
		}
	}
	r.t.Fatalf("nothing begins: %v", res.Task.Pending)
	return ""
}

// begun returns the first fact of an attempt that begins with a question or, with held, with a pause.
func begun(title, held string) sia.Begun {
	b := sia.Begun{Settings: sia.DefaultSettings(), BaseBranch: "main", BaseSHA: "abc", Title: title, Hold: held}
	if held == "" {
		b.Already = &sia.Already{URL: "https://github.com/octo/demo/pull/9",
			What: "pull request #9, which is open, closes it"}
	}
	return b
}

// ask makes a task wait for an answer.
func (r *fixture) ask(issue int, title string) {
	r.t.Helper()
	r.apply(issue, begun(title, ""), r.start(issue, title))
}

// flood makes the tasks of the first issues wait for answers.
func (r *fixture) flood(tasks int) {
	r.t.Helper()
	for i := range tasks {
		r.now = r.now.Add(time.Second)
		r.ask(i+1, "One of many")
	}
}

// chat is an incoming webhook with configurable responses.
type chat struct {
	*httptest.Server
	mu     sync.Mutex
	answer func(w http.ResponseWriter, text string) // nil: accepts everything
	posted []string                                 // including rejected ones
}

// path is the secret part of the address.
const path = "/services/T0001/B0002/abcdefghijklmnop"

func newChat(t *testing.T) *chat {
	c := &chat{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var m struct{ Text string }
		if err != nil || json.Unmarshal(body, &m) != nil || r.Method != http.MethodPost || r.URL.Path != path ||
			!strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%s %s: %s, %v", r.Method, r.URL, body, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.posted = append(c.posted, m.Text)
		if c.answer != nil {
			c.answer(w, m.Text)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *chat) config() notify.Config { return notify.Config{URL: c.URL + path} }

// answers changes its response.
func (c *chat) answers(f func(w http.ResponseWriter, text string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = f
}

// said returns the first line of each message since the last call.
func (c *chat) said() (titles []string) {
	for _, text := range c.texts() {
		first, _, _ := strings.Cut(text, "\n")
		titles = append(titles, first)
	}
	return titles
}

func (c *chat) texts() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.posted
	c.posted = nil
	return all
}
