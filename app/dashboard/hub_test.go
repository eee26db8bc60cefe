package dashboard

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

// enabled are settings with a dashboard in each repository.
type enabled struct{}

func (enabled) Kept(context.Context, int64, sia.Repo) (sia.InForce, bool, error) {
	s := sia.DefaultSettings()
	s.Dashboard = true
	return sia.InForce{Settings: s}, true, nil
}

// hub is a GitHub with an installation, its repositories and the issues of the first one.
type hub struct {
	now    time.Time
	store  *store.Store
	github *github.App
	repo   string   // the other fields of each repository, such as "archived"
	code   int      // of its answer to a new issue, if it is no success
	answer string   // to a new issue, if it is no success
	posts  int      // requests for a new issue
	bodies []string // of the issues, in the order of their numbers
}

func newHub(t *testing.T, repos int64) *hub {
	t.Helper()
	h := &hub{now: time.Date(2026, 3, 3, 7, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return h.now }
	h.store = storetest.Open(t, store.Config{Now: clock})
	check(t, h.store.UpsertInstallation(t.Context(), store.Installation{ID: 3, Account: "octo"}))
	for n := int64(1); n <= repos; n++ {
		check(t, h.store.UpsertRepository(t.Context(), store.Repository{Installation: 3, DefaultBranch: "main",
			Repo: sia.Repo{ID: n, Owner: "octo", Name: fmt.Sprint("r", n)}}))
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	check(t, err)
	h.github, err = github.New(github.Config{AppID: 7, BaseURL: srv.URL + "/", Now: clock, WriteBurst: 1000,
		PrivateKey: pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		Sleep:      func(context.Context, time.Duration) error { return nil }, Writes: h.store, Secrets: &secret.Masker{}})
	check(t, err)
	return h
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// boards returns the dashboards of a server that starts.
func (h *hub) boards() *Dashboards {
	return New(h.store, h.github, enabled{}, render.Links{}, func() time.Time { return h.now })
}

func (h *hub) issue(n int) map[string]any {
	return map[string]any{"number": n, "state": "open", "title": render.BoardTitle, "body": h.bodies[n-1],
		"labels": []any{}, "user": map[string]any{"login": "sia[bot]"}}
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := func(code int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body)
	}
	var sent struct{ Body string }
	_ = json.NewDecoder(r.Body).Decode(&sent) // most have none
	folder, last, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/issues")
	var number int
	_, _ = fmt.Sscanf(last, "/%d", &number) // of one issue
	switch {
	case strings.HasSuffix(r.URL.Path, "/access_tokens"):
		answer(http.StatusCreated, map[string]any{"token": "ghs_x", "expires_at": h.now.Add(time.Hour),
			"permissions": map[string]string{"issues": "write"}})
	case r.URL.Path == "/app":
		answer(http.StatusOK, json.RawMessage(`{"id":7,"slug":"sia","name":"SIA","permissions":{"issues":"write"}}`))
	case folder == "users/sia[bot]":
		answer(http.StatusOK, json.RawMessage(`{"id":77,"login":"sia[bot]","type":"Bot"}`))
	case strings.HasPrefix(folder, "repositories/") && !strings.Contains(r.URL.Path, "/issues"):
		answer(http.StatusOK, json.RawMessage(`{"id":1,"name":"r1","full_name":"octo/r1","owner":{"login":"octo"}`+
			h.repo+`}`))
	case number > len(h.bodies):
		answer(http.StatusNotFound, map[string]string{"message": "Not Found"})
	case number != 0:
		if r.Method == http.MethodPatch {
			h.bodies[number-1] = sent.Body
		}
		answer(http.StatusOK, h.issue(number))
	case r.Method == http.MethodPost:
		h.posts++
		if h.code != 0 {
			answer(h.code, map[string]string{"message": h.answer})
			return
		}
		h.bodies = append(h.bodies, sent.Body)
		answer(http.StatusCreated, h.issue(len(h.bodies)))
	default:
		all := []any{}
		for i := range h.bodies {
			all = append(all, h.issue(i+1))
		}
		answer(http.StatusOK, all)
	}
}

// Repositories that can't have an issue are left alone for a day: each try counts against the limit on writes, which
// the installation's tasks need.
func TestRefusedDashboards(t *testing.T) {
	t.Parallel()
	const repos = 45
	for name, c := range map[string]struct {
		repo   string
		code   int
		answer string
		posts  int // in an hour, and once the day after
	}{
		"issues are off":    {`,"has_issues":false`, http.StatusGone, "", 0},
		"archived":          {`,"archived":true`, http.StatusForbidden, "", 0},
		"another reason":    {"", http.StatusForbidden, "Interactions are limited here.", 2 * repos},
		"turned off lately": {"", http.StatusGone, "Issues has been disabled in this repository.", 2 * repos},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t, repos)
			h.repo, h.code, h.answer = c.repo, c.code, c.answer
			d := h.boards()
			for range 12 {
				_ = d.All(t.Context()) // the error is of the refusals
				h.now = h.now.Add(5 * time.Minute)
			}
			if until, err := h.store.WritesHeld(t.Context(), 3); err != nil || !until.IsZero() {
				t.Errorf("no task can write until %s, %v", until, err)
			}
			h.now = h.now.Add(24 * time.Hour)
			_ = d.All(t.Context())
			if h.posts != c.posts {
				t.Errorf("%d tries of %d repositories", h.posts, repos)
			}
			h.repo, h.code = "", 0
			h.now = h.now.Add(24 * time.Hour)
			if err := d.All(t.Context()); err != nil || len(h.bodies) != repos {
				t.Errorf("there are %d when the repositories can have one: %v", len(h.bodies), err)
			}
		})
	}
}

// A dashboard whose text somebody replaced, marker included, is written again, also after a restart and when it can't
// be found any more by a search. One that nobody knows yet is the one that an event is about.
func TestReplacedDashboards(t *testing.T) {
	t.Parallel()
	h := newHub(t, 1)
	repo := sia.Repo{ID: 1, Owner: "octo", Name: "r1"}
	check(t, h.boards().All(t.Context()))
	text := h.bodies[0]
	for _, d := range []*Dashboards{h.boards(), h.boards()} {
		for range 2 {
			h.bodies[0] = "Buy now."
			h.now = h.now.Add(recheckInterval)
			check(t, d.All(t.Context()))
		}
	}
	if h.posts != 1 || h.bodies[0] != text {
		t.Errorf("%d were opened, and the first reads:\n%s", h.posts, h.bodies[0])
	}
	h.bodies = []string{"An issue of somebody.", "Buy now."}
	check(t, h.store.SaveDashboard(t.Context(), repo.ID, 0)) // as before its number was stored
	check(t, h.boards().Refresh(t.Context(), 3, repo, 2))
	if n, err := h.store.Dashboard(t.Context(), repo.ID); n != 2 || err != nil || h.bodies[1] != text || h.posts != 1 {
		t.Errorf("it is issue %d, %v; %d were opened", n, err, h.posts)
	}
}
