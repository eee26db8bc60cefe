package store_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

func testTranscripts(t *testing.T, s *fixture) {
	ctx := patient(t)
	id := begin(t, s, 1)
	turn := func(text string) json.RawMessage { return json.RawMessage(`{"say":"` + text + `"}`) }
	long := turn(strings.Repeat("tests ", 2000))
	for i, v := range []json.RawMessage{turn("a"), long, turn("c")} {
		must(t, s.AppendTurn(ctx, id, 1, 0, i+1, v))
	}
	must(t, s.AppendTurn(ctx, id, 2, 0, 1, turn("other attempt")))
	must(t, s.AppendTurn(ctx, id, 1, 0, 2, turn("again, after a crash")))
	got, err := s.Turns(ctx, id, 1)
	must(t, err)
	if diff := cmp.Diff([]json.RawMessage{turn("a"), turn("again, after a crash")}, got); diff != "" {
		t.Error(diff)
	}
	if err := s.AppendTurn(ctx, "7-999", 1, 0, 1, turn("a")); err == nil {
		t.Error("a turn of no task was saved")
	}
}

func testTexts(t *testing.T, s *fixture) {
	ctx := patient(t)
	id := begin(t, s, 1)
	if _, err := s.Text(ctx, id, 1, "diff"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a text that was not saved gives %v", err)
	}
	long := strings.Repeat("+ a line that was added\n", 100_000)
	must(t, s.SaveText(ctx, id, 1, "diff", "first"))
	must(t, s.SaveText(ctx, id, 1, "diff", long))
	must(t, s.SaveText(ctx, id, 1, "log", ""))
	if got, err := s.Text(ctx, id, 1, "diff"); err != nil || got != long {
		t.Errorf("the long text came back with %d bytes, %v", len(got), err)
	}
	if got, err := s.Text(ctx, id, 1, "log"); err != nil || got != "" {
		t.Errorf("the empty text came back as %q, %v", got, err)
	}
}

func testSurfaces(t *testing.T, s *fixture) {
	ctx := patient(t)
	id := begin(t, s, 1)
	look := func(wantID int64, wantHash string) {
		t.Helper()
		got, hash, err := s.Surface(ctx, id, "status")
		if err != nil || got != wantID || hash != wantHash {
			t.Errorf("got %d %q %v, want %d %q", got, hash, err, wantID, wantHash)
		}
	}
	look(0, "")
	must(t, s.SaveSurface(ctx, id, "status", 55, "h1"))
	must(t, s.SaveSurface(ctx, id, "check", 66, "h2"))
	must(t, s.SaveSurface(ctx, id, "status", 55, "h3"))
	look(55, "h3")
}

func testInstallations(t *testing.T, s *fixture) {
	ctx := patient(t)
	octo := store.Installation{ID: 3, Account: "octo"}
	must(t, s.UpsertInstallation(ctx, octo))
	octo.Suspended = true
	must(t, s.UpsertInstallation(ctx, octo))
	anna := store.Installation{ID: 4, Account: "anna"}
	must(t, s.UpsertInstallation(ctx, anna))
	all, err := s.Installations(ctx)
	must(t, err)
	if diff := cmp.Diff([]store.Installation{anna, octo}, all); diff != "" {
		t.Error(diff)
	}

	r := store.Repository{Repo: demo, Installation: 3, DefaultBranch: "main", Private: true}
	must(t, s.UpsertRepository(ctx, r))
	r.Name = "renamed"
	must(t, s.UpsertRepository(ctx, r))
	must(t, s.UpsertRepository(ctx,
		store.Repository{Repo: sia.Repo{ID: 8, Owner: "anna", Name: "x"}, Installation: 4, DefaultBranch: "main"}))
	repos, err := s.Repositories(ctx, 3)
	must(t, err)
	if diff := cmp.Diff([]store.Repository{r}, repos); diff != "" {
		t.Error(diff)
	}
	if all, err := s.Repositories(ctx, 0); err != nil || len(all) != 2 {
		t.Errorf("got %v %v", all, err)
	}
	must(t, s.RemoveRepository(ctx, 3, 8)) // a late event of its previous installation
	if all, err := s.Repositories(ctx, 4); err != nil || len(all) != 1 {
		t.Errorf("of installation 4 there are %v, %v", all, err)
	}
	must(t, s.RemoveRepository(ctx, 4, 8))

	must(t, s.RemoveInstallation(ctx, 3))
	if all, err := s.Installations(ctx); err != nil || len(all) != 1 || all[0] != anna {
		t.Errorf("after one was removed there are %v, %v", all, err)
	}
	if _, err := s.Repository(ctx, demo.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a repository of a removed installation gives %v", err)
	}
}

func testSettings(t *testing.T, s *fixture) {
	ctx := patient(t)
	set := sia.DefaultSettings()
	set.Agent.Timeout = sia.Duration(7 * time.Minute)
	if err := s.SaveSettings(ctx, demo.ID, store.OwnSettings{Settings: &set, SHA: "abc"}); !errors.Is(err,
		store.ErrNotFound) {
		t.Errorf("settings of no repository give %v", err)
	}
	must(t, s.UpsertInstallation(ctx, store.Installation{ID: 3, Account: "octo"}))
	must(t, s.UpsertRepository(ctx, store.Repository{Repo: demo, Installation: 3, DefaultBranch: "main"}))
	if _, err := s.Settings(ctx, demo.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("settings that were not saved give %v", err)
	}
	// A repository without a file differs from one that was never read.
	for _, want := range []store.OwnSettings{{Settings: &set, SHA: "abc"}, {SHA: "def"}, {},
		{Settings: &set, SHA: "abc"}} {
		must(t, s.SaveSettings(ctx, demo.ID, want))
		got, err := s.Settings(ctx, demo.ID)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// The number of a dashboard stays when the repository is saved again, as under another name.
func testDashboards(t *testing.T, s *fixture) {
	ctx := patient(t)
	number := func(want int) {
		t.Helper()
		if n, err := s.Dashboard(ctx, demo.ID); n != want || err != nil {
			t.Errorf("issue %d, %v; want %d", n, err, want)
		}
	}
	must(t, s.SaveDashboard(ctx, demo.ID, 7)) // the repository is not known
	number(0)
	must(t, s.UpsertInstallation(ctx, store.Installation{ID: 3, Account: "octo"}))
	must(t, s.UpsertRepository(ctx, store.Repository{Repo: demo, Installation: 3}))
	number(0)
	must(t, s.SaveDashboard(ctx, demo.ID, 7))
	must(t, s.UpsertRepository(ctx, store.Repository{Repo: demo, Installation: 3}))
	number(7)
}

// A name is resolved within one installation, to the repository that had it last.
func testRepositoryNamed(t *testing.T, s *fixture) {
	ctx := patient(t)
	for i, account := range []string{"octo", "anna"} {
		must(t, s.UpsertInstallation(ctx, store.Installation{ID: int64(3 + i), Account: account}))
	}
	named := func(installation int64, name string, want int64) {
		t.Helper()
		got, err := s.RepositoryNamed(ctx, installation, name)
		if want == 0 && !errors.Is(err, store.ErrNotFound) || want != 0 && err != nil || got.ID != want {
			t.Errorf("%s of installation %d is %d, %v; want %d", name, installation, got.ID, err, want)
		}
	}
	for _, r := range []store.Repository{
		{Repo: sia.Repo{ID: 21, Owner: "octo", Name: ".github"}, Installation: 3},
		{Repo: sia.Repo{ID: 20, Owner: "octo", Name: "demo"}, Installation: 3},
	} {
		must(t, s.UpsertRepository(ctx, r))
	}
	named(3, ".github", 21)
	named(4, ".github", 0)
	must(t, s.UpsertRepository(ctx,
		store.Repository{Repo: sia.Repo{ID: 22, Owner: "octo", Name: ".github"}, Installation: 3}))
	named(3, ".github", 22)
	must(t, s.RemoveRepository(ctx, 3, 22))
	must(t, s.RemoveRepository(ctx, 3, 21))
	named(3, ".github", 0)
	named(3, "demo", 20)
}

func testStarts(t *testing.T, s *fixture) {
	ctx := patient(t)
	for i := range 5 {
		id, e := start(i, at(i))
		if i == 4 {
			e.By = bert
		}
		_, err := s.Apply(ctx, id, e)
		must(t, err)
	}
	later, wait := start(9, at(4))
	f := wait.Fact.(sia.Start)
	f.Wait = 90
	wait.Fact = f
	_, err := s.Apply(ctx, later, wait)
	must(t, err)
	for _, c := range []struct {
		who   sia.Actor
		since time.Time
		want  []time.Time
	}{
		{anna, at(0), []time.Time{at(4).Add(90 * time.Second), at(3), at(2)}},
		{sia.Actor{Login: "anna"}, at(3), []time.Time{at(4).Add(90 * time.Second), at(3)}},
		{bert, at(0), []time.Time{at(4)}}, {sia.Actor{Login: "carl"}, at(0), nil},
	} {
		got, err := s.LastStarts(ctx, c.who, c.since, 3)
		must(t, err)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApproxTime(time.Microsecond)); diff != "" {
			t.Errorf("%s since %s: -want +got\n%s", c.who.Login, c.since, diff)
		}
	}
}
