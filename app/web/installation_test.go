package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/app/web/webtest"
	"github.com/sia-bot/sia/sia"
)

// manySetups is the database of an installation with many repositories.
type manySetups struct {
	*store.Store
	all []store.Setup
}

func (m manySetups) Setups(context.Context, int64) ([]store.Setup, error) {
	return slices.Clone(m.all), nil
}

// many has 3,000 repositories, of which the last failed.
func many(t *testing.T) manySetups {
	m := manySetups{Store: world(t)}
	for i := range 3000 {
		v := store.Setup{Repository: store.Repository{Repo: sia.Repo{ID: int64(1000 + i), Owner: "acme",
			Name: fmt.Sprintf("r%04d", i)}, Installation: 1}, State: store.SetupDone, Together: 3000,
			Welcome: "3000 repositories were added at once, and only up to 10 get a pull request each"}
		switch {
		case i == 2999:
			v.State, v.Error, v.Tries, v.Welcome = store.SetupFailed, "no luck", 4, ""
		case i >= 2890:
			v.State, v.Welcome = store.SetupPending, ""
		case i < 10:
			v.State = store.SetupArchived
		case i == 20 || i == 21:
			v.Checks = new(int)
			*v.Checks = i - 20
		}
		m.all = append(m.all, v)
	}
	return m
}

// The page of an installation has the sums and the time left, failed repositories first, and at most 50 at once.
func TestInstallationOfManyRepositories(t *testing.T) {
	h := pages(t, many(t), &doer{})
	rows := func(query string) []string {
		t.Helper()
		code, page := ask(t, h, admin(), "GET /installations/1"+query, "")
		if code != http.StatusOK {
			t.Fatalf("%s: %d %s", query, code, page)
		}
		if sum := "2880 of 3000 repositories are set up, 1 failed, 10 are archived. About 1 h 49 min left."; !strings.
			Contains(page, sum) {
			t.Errorf("%s: the page lacks %q:\n%s", query, sum, page)
		}
		var names []string
		for _, row := range strings.Split(page, `<th scope="row">`)[1:] {
			_, row, _ = strings.Cut(row, ">")
			name, _, _ := strings.Cut(row, "<")
			names = append(names, name)
		}
		return names
	}
	for query, want := range map[string]struct {
		n           int
		first, last string
	}{
		"":                          {50, "acme/r2999", "acme/r2938"},
		"?page=60":                  {50, "acme/r2850", "acme/r0009"},
		"?state=done&page=2":        {50, "acme/r0060", "acme/r0109"},
		"?state=failed":             {1, "acme/r2999", "acme/r2999"},
		"?state=archived":           {10, "acme/r0000", "acme/r0009"},
		"?state=archived&page=2":    {},
		"?state=pending&page=3":     {9, "acme/r2990", "acme/r2998"},
		"?state=&page=1&unknown=14": {50, "acme/r2999", "acme/r2938"},
	} {
		got := rows(query)
		if len(got) != want.n || want.n > 0 && (got[0] != want.first || got[want.n-1] != want.last) {
			t.Errorf("%q: %d rows: %q", query, len(got), got)
		}
	}
	_, page := ask(t, h, admin(), "GET /installations/1?state=done&page=2", "")
	for _, link := range []string{`rel="prev" href="/installations/1?page=1&amp;state=done"`,
		`rel="next" href="/installations/1?page=3&amp;state=done"`,
		`<a href="?state=failed">Failed <span class="count">1</span></a>`} {
		if !strings.Contains(page, link) {
			t.Errorf("the page lacks %s:\n%s", link, page)
		}
	}
	_, page = ask(t, h, admin(), "GET /installations/1?state=done", "")
	for _, says := range []string{"it started no check: is Actions switched on", "it started 1 check</small>"} {
		if strings.Count(page, says) != 1 {
			t.Errorf("the page does not say %q once:\n%s", says, page)
		}
	}
	for _, query := range []string{"?state=else", "?page=0"} {
		if code, _ := ask(t, h, admin(), "GET /installations/1"+query, ""); code != http.StatusBadRequest {
			t.Errorf("%s: %d", query, code)
		}
	}
	_, body := ask(t, h, admin(), "GET /installations/1?format=json", "")
	var got struct {
		Counts  map[string]int `json:"counts"`
		Minutes int            `json:"minutes_left"`
		Repos   []any          `json:"repositories"`
		More    bool           `json:"more"`
	}
	must(t, json.Unmarshal([]byte(body), &got))
	if got.Counts["done"] != 2880 || got.Counts["failed"] != 1 || got.Minutes != 109 || len(got.Repos) != 50 ||
		!got.More {
		t.Errorf("%s", body)
	}
}

// Administrators have failed repositories set up again: one, or all.
func TestFailedRepositoriesAreTriedAgain(t *testing.T) {
	const one, all = `aria-label="Try again: acme/r2999"`, `value="retry">Try all failed ones again</button>`
	m, do := many(t), &doer{}
	h := pages(t, m, do)
	if _, page := ask(t, h, admin(), "GET /installations/1", ""); strings.Count(page, one) != 1 ||
		strings.Contains(page, all) {
		t.Errorf("of one failed repository:\n%s", page)
	}
	m.all[7].State = store.SetupFailed
	if _, page := ask(t, h, admin(), "GET /installations/1", ""); strings.Count(page, ">Try again</button>") != 2 ||
		!strings.Contains(page, all) {
		t.Errorf("of two failed repositories:\n%s", page)
	}
	for sent, want := range map[string]string{
		"do=retry&repo=3999":  "grace set up again: [acme/r2999]",
		"do=retry":            "grace set up again: [acme/r0007 acme/r2999]",
		"do=retry&repo=1008":  "",
		"do=retry&repo=1":     "",
		"do=retry&repo=other": "",
	} {
		do.said = nil
		code, _ := ask(t, h, admin(), "POST /installations/1", sent)
		if code != http.StatusSeeOther || strings.Join(do.said, " ") != want {
			t.Errorf("%s: %d, %q", sent, code, do.said)
		}
		do.said = nil
		for _, other := range []viewer.Viewer{member(), stranger(), nobody()} {
			if code, _ := ask(t, h, other, "POST /installations/1", sent); code != http.StatusNotFound || len(do.said) > 0 {
				t.Errorf("%s by %s: %d, %q", sent, other.Actor.Login, code, do.said)
			}
		}
	}
}

// Administrators have settings proposed to a repository that was added with too many others.
func TestSettingsAreProposedOnDemand(t *testing.T) {
	m, do := many(t), &doer{}
	m.all = m.all[:60]
	m.all[11].Together, m.all[11].Welcome = 1, "pull request 3 proposes it"
	m.all[12].Name = sia.OwnersRepo
	m.all[13].Welcome = "" // the server proposes none
	h := pages(t, m, do)
	_, page := ask(t, h, admin(), "GET /installations/1", "")
	if n := strings.Count(page, ">Propose settings</button>"); n != 47 {
		t.Errorf("%d of 47 buttons:\n%s", n, page)
	}
	for repo, want := range map[int]string{1014: "grace propose settings: acme/r0014", 1005: "", 1011: "", 1012: "",
		1013: "", 1: ""} {
		do.said = nil
		sent := fmt.Sprint("do=propose&repo=", repo)
		code, _ := ask(t, h, admin(), "POST /installations/1", sent)
		if code != http.StatusSeeOther || strings.Join(do.said, " ") != want {
			t.Errorf("%s: %d, %q", sent, code, do.said)
		}
		do.said = nil
		for _, other := range []viewer.Viewer{member(), stranger(), nobody()} {
			if code, _ := ask(t, h, other, "POST /installations/1", sent); code != http.StatusNotFound || len(do.said) > 0 {
				t.Errorf("%s by %s: %d, %q", sent, other.Actor.Login, code, do.said)
			}
		}
	}
}

// The page of an installation with repositories in every state, and buttons, is accessible on a phone and a desktop,
// light and dark.
//
//test:thorough
//test:plain
func TestEverybodyCanUseManyRepositories(t *testing.T) {
	m := many(t)
	m.all = slices.Delete(m.all, 20, 2980)
	m.all[len(m.all)-2].State = store.SetupFailed
	srv := httptest.NewServer(as(admin(), pages(t, m, &doer{})))
	t.Cleanup(srv.Close)
	judge := webtest.NewJudge(webtest.Chromium(t), t, "../..")
	judge.Open(t, srv.URL+"/installations/1")
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			judge.Look(t, fmt.Sprintf("many-%d-%s", width, scheme), width, scheme)
		}
	}
}
