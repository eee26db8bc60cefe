package probe_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/probe"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sim/ghsim"
)

// scratch is a simulator with a repository for probes.
type scratch struct {
	sim    *ghsim.Server
	app    *github.App
	masker *secret.Masker
}

const scratchName = "acme/scratch"

// open starts a simulator, served on a port like a GitHub Enterprise Server.
func open(t *testing.T, wrap func(http.Handler) http.Handler) *scratch {
	t.Helper()
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(hook.Close)
	sim, err := ghsim.New(ghsim.Config{WebhookURL: hook.URL, WebhookSecret: "s3cret", Wrap: wrap})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := sim.Start(""); err != nil {
		t.Fatal(err)
	}
	sim.CreateOrg("acme")
	spec := ghsim.RepoSpec{Files: map[string]string{"README.md": "scratch\n"}}
	if _, err := sim.CreateRepo("acme", "scratch", spec); err != nil {
		t.Fatal(err)
	}
	registered, err := sim.CreateApp("sia")
	if err != nil {
		t.Fatal(err)
	}
	granted := ghsim.DefaultPermissions()
	granted["administration"] = "write"
	if err := sim.SetAppPermissions(registered.ID, granted); err != nil {
		t.Fatal(err)
	}
	if _, err := sim.Install(registered.ID, "acme", "scratch"); err != nil {
		t.Fatal(err)
	}
	s := &scratch{sim: sim, masker: &secret.Masker{}}
	s.app, err = github.New(github.Config{AppID: registered.ID, PrivateKey: registered.PrivateKeyPEM,
		BaseURL: sim.APIURL(), Secrets: s.masker, Writes: github.Uncounted{}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sign authenticates for the scratch repository.
func (s *scratch) sign(t *testing.T) github.Raw {
	t.Helper()
	raw, err := s.app.Raw(t.Context(), sia.Repo{Owner: "acme", Name: "scratch"})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// options are for a run that waits for the simulator instead of sleeping.
func (s *scratch) options() probe.Options {
	return probe.Options{Secrets: s.masker, Spacing: time.Nanosecond, Name: "20261124t0330-test",
		Sleep: func(ctx context.Context, _ time.Duration) error { return s.sim.WaitIdle(ctx) }}
}

// state returns the parts of the repository's state that a run could change.
func (s *scratch) state(t *testing.T, raw github.Raw) string {
	t.Helper()
	var all strings.Builder
	for _, path := range []string{"/git/matching-refs/heads/", "/git/matching-refs/sia-probe", "/labels?per_page=100",
		"/rulesets", "/issues?state=open&per_page=100",
		"/pulls?state=open&per_page=100", "/contents/", "/rules/branches/main"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, raw.API+"repos/"+scratchName+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+raw.Token)
		resp, err := raw.Network.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d, %v", path, resp.StatusCode, err)
		}
		fmt.Fprintf(&all, "%s\n%s\n", path, body)
	}
	return all.String()
}

// cancelling cancels a run in the middle.
type cancelling struct {
	next   http.RoundTripper
	left   atomic.Int32
	cancel func()
}

func (c *cancelling) RoundTrip(req *http.Request) (*http.Response, error) {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
	return c.next.RoundTrip(req)
}

// The repository is unchanged after a run that was stopped, after one with failed probes, and after both.
func TestNothingIsLeft(t *testing.T) {
	s := open(t, nil)
	raw := s.sign(t)
	if _, err := s.sim.OpenIssue(scratchName, "acme", "An issue of a person", "stays", "bug"); err != nil {
		t.Fatal(err)
	}
	before := s.state(t, raw)
	o := s.options()
	o.Only = regexp.MustCompile(`^(pulls/(one|drafts)|rules/(pages|behind)|issues/labels|pushes/outside-heads)$`)
	t.Run("stopped", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		stopped := raw
		network := &cancelling{next: raw.Network, cancel: cancel}
		network.left.Store(30)
		stopped.Network = network
		report := probe.Run(ctx, stopped, o)
		if ctx.Err() == nil || report.Count(probe.Holds) == 0 || len(report.Left) > 0 {
			t.Errorf("%v; %d hold; left: %v", ctx.Err(), report.Count(probe.Holds), report.Left)
		}
		last := report.Results[len(report.Results)-1]
		if last.Verdict != probe.NotTried || !strings.Contains(last.Why, "stopped") {
			t.Errorf("the last fact: %+v", last)
		}
		if d := cmp.Diff(before, s.state(t, raw)); d != "" {
			t.Error(d)
		}
	})
	t.Run("failing", func(t *testing.T) {
		s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/check-runs") ||
				strings.Contains(r.URL.RawQuery, "per_page=1") && strings.Contains(r.URL.Path, "/rules/") ||
				r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/labels") {
				return &ghsim.Fault{Status: http.StatusForbidden, After: true}
			}
			return nil
		})
		defer s.sim.ClearFaults()
		report := probe.Run(t.Context(), raw, o)
		if report.Count(probe.Differs) != 3 || len(report.Left) > 0 {
			t.Errorf("%d differ; left: %v", report.Count(probe.Differs), report.Left)
		}
		if d := cmp.Diff(before, s.state(t, raw)); d != "" {
			t.Error(d)
		}
	})
	t.Run("again", func(t *testing.T) {
		report := probe.Run(t.Context(), raw, o)
		if !report.OK() || report.Count(probe.Holds) != len(report.Results) {
			t.Errorf("%v", differing(report))
		}
		if d := cmp.Diff(before, s.state(t, raw)); d != "" {
			t.Error(d)
		}
	})
}

// A run removes the objects of a killed run, and none of a run that may be in progress.
func TestDeadRunsAreSweptUp(t *testing.T) {
	s := open(t, nil)
	raw := s.sign(t)
	for _, branch := range []string{"sia-probe/20260101t0000-dead/branch-1", "sia-probe/20991124t0329-alive/branch-1"} {
		if _, err := s.sim.PushFiles(scratchName, branch, "acme", "x", map[string]string{"x": "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.sim.OpenIssue(scratchName, "acme", "sia-probe/20260101t0000-dead/issue-2", ""); err != nil {
		t.Fatal(err)
	}
	o := s.options()
	o.Only = regexp.MustCompile(`^addresses/`)
	probe.Run(t.Context(), raw, o)
	branches, err := s.sim.Branches(scratchName)
	if err != nil || len(branches) != 2 || branches["sia-probe/20991124t0329-alive/branch-1"] == "" {
		t.Errorf("branches %v, %v", branches, err)
	}
	if is, err := s.sim.Issue(scratchName, 1); err != nil || is.State != "closed" {
		t.Errorf("issue %+v, %v", is, err)
	}
}

// After the secondary limit, a request waits as long as GitHub asks, which may be longer than the time limit of a
// request, and is retried.
func TestRateLimitIsWaitedFor(t *testing.T) {
	s := open(t, nil)
	raw := s.sign(t)
	for _, asked := range []string{http.MethodGet, http.MethodPost} {
		s.sim.FailRequests(ghsim.Once(ghsim.SecondaryLimit(time.Minute, 1), func(r *http.Request) bool {
			return r.Method == asked && strings.Contains(r.URL.Path, "/issues/")
		}))
		o := s.options()
		o.Only = regexp.MustCompile(`^issues/markers$`)
		var waited time.Duration
		o.Sleep = func(ctx context.Context, d time.Duration) error {
			if end, bounded := ctx.Deadline(); bounded && end.Before(time.Now().Add(d)) {
				return context.DeadlineExceeded
			}
			waited += d.Truncate(time.Second)
			return s.sim.WaitIdle(ctx)
		}
		report := probe.Run(t.Context(), raw, o)
		if !report.OK() || report.Count(probe.Holds) != 1 || waited != time.Minute {
			t.Errorf("%s: %+v after %s", asked, report.Results, waited)
		}
		s.sim.ClearFaults()
	}
}

// A record has no secrets, and no long bodies.
func TestRecordIsMaskedAndBounded(t *testing.T) {
	s := open(t, nil)
	raw := s.sign(t)
	o := s.options()
	o.Only, o.Record = regexp.MustCompile(`^(tokens/(hour|git)|issues/length)$`), true
	report := probe.Run(t.Context(), raw, o)
	b, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "ghs_") || strings.Contains(string(b), raw.Token) {
		t.Error("the record holds a token")
	}
	for _, r := range report.Results {
		if r.Verdict != probe.Holds || len(r.Exchanges) == 0 {
			t.Errorf("%s: %s, %d exchanges", r.ID, r.Verdict, len(r.Exchanges))
		}
		for _, x := range r.Exchanges {
			if len(x.Request)+len(x.Answer) > 20<<10 {
				t.Errorf("%s records %d bytes", r.ID, len(x.Request)+len(x.Answer))
			}
		}
	}
}
