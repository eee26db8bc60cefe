package signin_test

import (
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/web/signin"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sim/ghsim"
)

func TestPeopleSeeWhatGitHubLetsThem(t *testing.T) {
	p := open(t)
	acme := func(whole bool) []viewer.Installation {
		return []viewer.Installation{{ID: p.inst, Account: "acme", Whole: whole}}
	}
	for login, want := range map[string]viewer.Viewer{
		"ada": {Repos: map[int64]viewer.Role{p.shop: viewer.Administers, p.till: viewer.Administers},
			Installations: acme(true)},
		"meg":     {Repos: map[int64]viewer.Role{p.shop: viewer.Administers}, Installations: acme(false)},
		"dana":    {Repos: map[int64]viewer.Role{p.shop: viewer.Writes}, Installations: acme(false)},
		"tim":     {Repos: map[int64]viewer.Role{p.shop: viewer.Reads}, Installations: acme(false)},
		"rob":     {Repos: map[int64]viewer.Role{p.shop: viewer.Reads}, Installations: acme(false)},
		"mallory": {Repos: map[int64]viewer.Role{}},
	} {
		got := p.browser().signIn(login, "/tasks?state=passed")
		if got.url.RequestURI() != "/tasks?state=passed" {
			t.Errorf("%s came back to %s", login, got.url)
		}
		v := got.viewer(t)
		if v.Token == "" || v.Actor.Login != login || v.Actor.ID == 0 {
			t.Errorf("%s: token %q, actor %+v", login, v.Token, v.Actor)
		}
		v.Token, v.Actor = "", want.Actor
		if d := cmp.Diff(want, v); d != "" {
			t.Errorf("%s: %s", login, d)
		}
	}
	if nobody := p.browser().stay().ask("GET", "/tasks/1-2", nil); nobody.status != http.StatusSeeOther ||
		nobody.header.Get("Location") != "/signin?to=%2Ftasks%2F1-2" {
		t.Errorf("nobody: %d %s", nobody.status, nobody.header)
	}
	program := p.browser().ask("GET", "/", nil, "Accept", "application/json")
	if program.status != http.StatusUnauthorized {
		t.Errorf("a program: %d", program.status)
	}
	if runner := p.browser().ask("POST", "/runner/next", nil); runner.status != http.StatusNotFound {
		t.Errorf("a runner, led to the pages: %d", runner.status)
	}
	if style := p.browser().ask("GET", "/style.css", nil); style.status != http.StatusOK ||
		!strings.HasPrefix(style.header.Get("Content-Type"), "text/css") {
		t.Errorf("the style sheet, for nobody: %d %s", style.status, style.header)
	}
}

// All pages of repositories are read.
func TestManyRepositories(t *testing.T) {
	p := open(t)
	p.CreateUser("zoe")
	const many = 101
	for i := range many {
		_, err := p.CreateRepo("zoe", fmt.Sprintf("r%d", i), ghsim.RepoSpec{})
		p.must(err)
	}
	inst, err := p.Install(p.app.ID, "zoe")
	p.must(err)
	v := p.browser().signIn("zoe", "/").viewer(t)
	if len(v.Repos) != many || !v.Administers(inst) || len(v.Installations) != 1 {
		t.Errorf("zoe sees %d repositories of %d, rules hers: %v", len(v.Repos), many, v.Administers(inst))
	}
}

// Whether people administer all of an installation costs the app one request a minute, whatever the number of
// repositories and people. If GitHub does not tell, they see their pages, without its switches.
func TestWholeInstallation(t *testing.T) {
	p := open(t)
	names := []string{"shop", "till"}
	for i := range 101 {
		name := fmt.Sprintf("acme/r%d", i)
		names = append(names, name[5:])
		_, err := p.CreateRepo("acme", name[5:], ghsim.RepoSpec{})
		p.must(err)
		p.must(p.SetPermission(name, "ada", "admin"))
		p.must(p.SetPermission(name, "zoe", "admin"))
	}
	_, err := p.Install(p.app.ID, "acme", names...)
	p.must(err)
	var counts atomic.Int32
	var down atomic.Bool
	p.FailRequests(func(r *http.Request) *ghsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/installation/repositories") {
			counts.Add(1)
			if down.Load() {
				return &ghsim.Fault{Status: http.StatusForbidden}
			}
		}
		return nil
	})
	ada := p.browser()
	if v := ada.signIn("ada", "/").viewer(t); len(v.Repos) != 103 || !v.Administers(p.inst) {
		t.Errorf("ada sees %d repositories, rules all: %v", len(v.Repos), v.Administers(p.inst))
	}
	if v := p.browser().signIn("ada", "/").viewer(t); !v.Administers(p.inst) {
		t.Error("ada does not rule all at another computer")
	}
	if v := p.browser().signIn("zoe", "/").viewer(t); v.Administers(p.inst) {
		t.Error("zoe rules all")
	}
	if n := counts.Load(); n != 1 {
		t.Errorf("the app asked %d times", n)
	}
	p.clock.Advance(time.Minute)
	down.Store(true)
	got := ada.ask("GET", "/", nil)
	if v := got.viewer(t); len(v.Repos) != 103 || v.Administers(p.inst) {
		t.Errorf("without an answer: %d, %d repositories, rules all: %v", got.status, len(v.Repos), v.Administers(p.inst))
	}
	down.Store(false)
	p.clock.Advance(time.Minute)
	if v := ada.ask("GET", "/", nil).viewer(t); !v.Administers(p.inst) {
		t.Error("afterwards ada does not rule all")
	}
}

func TestNoOpenRedirect(t *testing.T) {
	p := open(t)
	for _, to := range []string{"//evil.example", `/\evil.example`, `\\evil.example`, "https://evil.example/",
		"https:evil.example", "javascript:alert(1)", "/\t/evil.example", "/%5Cevil.example", "/%2F/evil.example",
		"///evil.example", "evil", "", "/signin?to=/", "/signout", "/" + strings.Repeat("a", 3000), "/\n/evil.example",
		" //evil.example"} {
		got := p.browser().signIn("dana", "/signin?"+url.Values{"to": {to}}.Encode())
		if got.url.String() != p.pages.URL+"/" {
			t.Errorf("%q led to %s", to, got.url)
		}
	}
}

// A sign-in must be completed in the same browser, once, and with GitHub's answer to its own request.
func TestSignInsAreBoundToTheirBrowser(t *testing.T) {
	p := open(t)
	mallory := p.browser()
	github := mallory.ask("GET", "/signin/github", nil)
	back := mallory.stay().allow("mallory", github).header.Get("Location")
	if !strings.HasPrefix(back, p.pages.URL+"/signin/callback?code=") {
		t.Fatalf("GitHub sends back to %s", back)
	}
	victim := p.browser()
	if got := victim.ask("GET", back, nil); got.status != http.StatusBadRequest {
		t.Errorf("a sign-in that began elsewhere: %d %s", got.status, got.body)
	}
	if got := victim.ask("GET", "/", nil); got.url.Path != "/signin" {
		t.Errorf("the victim is somebody: %s", got.body)
	}
	victim.ask("GET", "/signin/github", nil) // the victim's own sign-in is in progress
	if got := victim.ask("GET", back, nil); got.status != http.StatusBadRequest {
		t.Errorf("another state: %d %s", got.status, got.body)
	}
	u, err := url.Parse(back)
	p.must(err)
	q := u.Query()
	q.Del("state")
	if got := victim.ask("GET", "/signin/callback?"+q.Encode(), nil); got.status != http.StatusBadRequest {
		t.Errorf("no state: %d %s", got.status, got.body)
	}
	if got := mallory.ask("GET", back, nil); got.viewer(t).Actor.Login != "mallory" {
		t.Errorf("their own: %d %s", got.status, got.body)
	}
	if got := mallory.ask("GET", back, nil); got.status != http.StatusBadRequest {
		t.Errorf("a second time: %d %s", got.status, got.body)
	}
}

// An intercepted code is useless without the verifier of the browser that started.
func TestCodesAreBoundByPKCE(t *testing.T) {
	p := open(t)
	dana, mallory := p.browser(), p.browser()
	u, err := url.Parse(dana.stay().allow("dana", dana.ask("GET", "/signin/github", nil)).header.Get("Location"))
	p.must(err)
	m, err := url.Parse(mallory.stay().ask("GET", "/signin/github", nil).header.Get("Location"))
	p.must(err)
	q := url.Values{"code": {u.Query().Get("code")}, "state": {m.Query().Get("state")}}
	if got := mallory.ask("GET", "/signin/callback?"+q.Encode(), nil); got.status != http.StatusBadGateway {
		t.Errorf("mallory is let in with dana's code: %d %s", got.status, got.body)
	}
	if m.Query().Get("code_challenge_method") != "S256" ||
		m.Query().Get("redirect_uri") != p.pages.URL+"/signin/callback" {
		t.Errorf("GitHub is asked %s", m)
	}
}

// A forged cookie, or one sealed for another purpose, is no session.
func TestSessionsCantBeMade(t *testing.T) {
	p := open(t)
	dana := p.browser()
	dana.signIn("dana", "/")
	home, err := url.Parse(p.pages.URL)
	p.must(err)
	var good string
	for _, c := range dana.Jar.Cookies(home) {
		if c.Name == "sia-session" {
			good = c.Value
		}
	}
	begun := p.browser()
	begun.ask("GET", "/signin/github", nil)
	bad := []string{"", "x", strings.Repeat("A", 100), good[:len(good)-2] + "AA", "A" + good[1:],
		strings.Repeat("A", 1<<16)}
	for _, c := range begun.Jar.Cookies(home) {
		bad = append(bad, c.Value) // one sealed for another purpose
	}
	for _, value := range bad {
		if got := p.browser().stay().ask("GET", "/", nil, "Cookie", "sia-session="+value); got.status != http.StatusSeeOther {
			t.Errorf("%.30q: %d", value, got.status)
		}
	}
	p.restart()
	if got := dana.ask("GET", "/", nil); got.viewer(t).Actor.Login != "dana" {
		t.Errorf("after a restart: %d %s", got.status, got.body)
	}
	p.conf.ClientSecret = "another one"
	p.restart()
	if got := dana.ask("GET", "/", nil); got.url.Path != "/signin" {
		t.Errorf("with another secret: %d %s", got.status, got.body)
	}
}

// Each sign-in makes a new session: an existing one is not continued.
func TestSessionsAreRotated(t *testing.T) {
	p := open(t)
	b := p.browser()
	first := b.signIn("mallory", "/").viewer(t)
	second := b.allow("dana", b.ask("GET", "/signin/github", nil)).viewer(t)
	if second.Actor.Login != "dana" || second.Token == first.Token {
		t.Errorf("%+v after %+v", second, first)
	}
	if got := b.ask("POST", "/act", url.Values{"csrf": {first.Token}}); got.status != http.StatusForbidden || p.done != 0 {
		t.Errorf("the token of the session before: %d, %d done", got.status, p.done)
	}
}

func TestOtherSitesChangeNothing(t *testing.T) {
	p := open(t)
	dana := p.browser()
	token := dana.signIn("dana", "/").viewer(t).Token
	others := p.browser().signIn("rob", "/").viewer(t).Token
	for name, try := range map[string][]string{
		"no token": {""}, "another's": {others}, "half": {token[:20]},
		"with the origin of another site": {token, "Origin", "https://evil.example"},
		"from another site":               {token, "Sec-Fetch-Site", "cross-site"},
		"from a sibling":                  {token, "Sec-Fetch-Site", "same-site"},
	} {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
			if got := dana.ask(method, "/act", url.Values{"csrf": {try[0]}}, try[1:]...); got.status != http.StatusForbidden {
				t.Errorf("%s %s: %d", method, name, got.status)
			}
		}
	}
	if got := dana.ask("POST", "/act?token="+token, nil); got.status != http.StatusForbidden {
		t.Errorf("a token in the address: %d", got.status)
	}
	got := dana.ask("POST", "/act", url.Values{"csrf": {""}, "x": {strings.Repeat("x", 11<<20)}})
	if got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large form: %d", got.status)
	}
	if p.done != 0 {
		t.Fatalf("%d were done", p.done)
	}
	dana.ask("POST", "/act", url.Values{"csrf": {token}}, "Sec-Fetch-Site", "same-origin", "Origin", p.pages.URL)
	dana.ask("POST", "/act", nil, "X-CSRF-Token", token)
	if p.done != 2 {
		t.Errorf("%d of two were done", p.done)
	}
}

func TestSigningOut(t *testing.T) {
	p := open(t)
	dana := p.browser()
	token := dana.signIn("dana", "/").viewer(t).Token
	home, err := url.Parse(p.pages.URL)
	p.must(err)
	thief := p.browser()
	thief.Jar.SetCookies(home, dana.Jar.Cookies(home))
	if got := dana.ask("GET", "/signout", nil); got.status != http.StatusMethodNotAllowed {
		t.Errorf("a link signs out: %d", got.status)
	}
	if got := dana.ask("POST", "/signout", nil); got.status != http.StatusForbidden {
		t.Errorf("another site signs out: %d", got.status)
	}
	out := dana.ask("POST", "/signout", url.Values{"csrf": {token}})
	if !strings.Contains(out.body, "You are signed out") {
		t.Errorf("%d %s", out.status, out.body)
	}
	for name, b := range map[string]*browser{"dana": dana, "a copy of her cookie": thief} {
		if got := b.ask("GET", "/", nil); got.url.Path != "/signin" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	p.restart()
	if got := thief.ask("GET", "/", nil); got.url.Path != "/signin" {
		t.Errorf("a copy, after a restart: %d %s", got.status, got.body)
	}
	// The session ends here even if GitHub does not revoke the token.
	rob := p.browser()
	token = rob.signIn("rob", "/").viewer(t).Token
	p.FailRequests(func(r *http.Request) *ghsim.Fault {
		if r.Method == http.MethodDelete {
			return &ghsim.Fault{Status: http.StatusBadGateway}
		}
		return nil
	})
	copied := p.browser()
	copied.Jar.SetCookies(home, rob.Jar.Cookies(home))
	rob.ask("POST", "/signout", url.Values{"csrf": {token}})
	if got := copied.ask("GET", "/", nil); got.url.Path != "/signin" {
		t.Errorf("a copy, which GitHub still accepts: %d %s", got.status, got.body)
	}
}

// A form sent after the session has ended is answered with a page: it shows the texts for copying, and leads through a
// new sign-in back to the form's page. It shows every text field of the pages, and no other.
func TestWhatWasWrittenOutlastsTheSignIn(t *testing.T) {
	p := open(t)
	dana := p.browser()
	token := dana.signIn("dana", "/").viewer(t).Token
	written := url.Values{"csrf": {token}, "key": {"unknown field"}, "do": {"answer"}}
	templates, err := filepath.Glob("../templates/*.html")
	p.must(err)
	for _, file := range templates {
		page, err := os.ReadFile(file)
		p.must(err)
		for _, m := range area.FindAllStringSubmatch(string(page), -1) {
			written.Set(m[1], "<b>"+m[1]+"</b>\nof mine")
		}
	}
	if !written.Has("words") || !written.Has("text") {
		t.Fatalf("the pages have no fields to write in: %v", written)
	}
	shows := func(what string, got answer, status int) {
		t.Helper()
		if got.status != status || p.done != 0 || strings.Contains(got.body, "unknown") || strings.Contains(got.body, "<b>") {
			t.Errorf("%s: %d, %d done: %s", what, got.status, p.done, got.body)
		}
		for name, value := range written {
			if want := html.EscapeString(value[0]) + "</textarea>"; name != "csrf" && name != "key" && name != "do" &&
				!strings.Contains(got.body, want) {
				t.Errorf("%s lacks %q: %s", what, want, got.body)
			}
		}
	}
	earlier := maps.Clone(written)
	earlier.Set("csrf", "an earlier one")
	shows("an earlier sign-in's form", dana.ask("POST", "/tasks/1-2", earlier), http.StatusForbidden)
	p.clock.Advance(9 * time.Hour)
	got := dana.ask("POST", "/tasks/1-2", written, "Referer", p.pages.URL+"/escalations?page=2")
	shows("the next day", got, http.StatusUnauthorized)
	to := link.FindStringSubmatch(got.body)
	if to == nil {
		t.Fatalf("no way to sign in: %s", got.body)
	}
	back := dana.allow("dana", dana.ask("GET", strings.ReplaceAll(to[1], "&amp;", "&"), nil))
	if back.url.RequestURI() != "/escalations?page=2" {
		t.Errorf("the sign-in led to %s", back.url)
	}
	p.must(p.WithdrawSignIns(p.app.ID, "dana"))
	p.clock.Advance(time.Minute)
	written.Set("csrf", back.viewer(t).Token)
	shows("withdrawn", dana.ask("POST", "/tasks/1-2", written), http.StatusUnauthorized)
	for referer, want := range map[string]string{"": "/tasks/1-2", "https://evil.example/x": "/x",
		p.pages.URL + "//evil.example": "/", p.pages.URL + "/signout": "/", "::": "/tasks/1-2"} {
		got := p.browser().ask("POST", "/tasks/1-2", nil, "Referer", referer)
		if want := "to=" + url.QueryEscape(want) + `"`; !strings.Contains(got.body, want) {
			t.Errorf("from %q: lacks %q: %s", referer, want, got.body)
		}
	}
	for what, try := range map[string]struct {
		form   url.Values
		header []string
		status int
	}{
		"another site": {written, []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		"too much": {url.Values{"words": {"mine" + strings.Repeat("x", 1<<20)}}, nil,
			http.StatusRequestEntityTooLarge},
		"a program": {written, []string{"Accept", "application/json"}, http.StatusUnauthorized},
	} {
		got := p.browser().ask("POST", "/tasks/1-2", try.form, try.header...)
		if got.status != try.status || strings.Contains(got.body, "mine") {
			t.Errorf("%s: %d: %s", what, got.status, got.body)
		}
	}
}

var area = regexp.MustCompile(`<textarea name="([^"]*)"`)

// GitHub's changes take effect within a minute: a removed role, and a revoked token.
func TestRightsAreTakenAway(t *testing.T) {
	p := open(t)
	dana, rob := p.browser(), p.browser()
	dana.signIn("dana", "/")
	rob.signIn("rob", "/")
	calls := p.CountCalls()
	for range 20 {
		dana.ask("GET", "/", nil)
	}
	if n := p.CountCalls() - calls; n != 0 {
		t.Errorf("GitHub was asked %d times within the minute", n)
	}
	p.must(p.SetPermission("acme/shop", "dana", "none"))
	p.must(p.SetPermission("acme/till", "rob", "admin"))
	p.clock.Advance(time.Minute)
	if v := dana.ask("GET", "/", nil).viewer(t); v.May(p.shop, viewer.Reads) || len(v.Installations) > 0 {
		t.Errorf("dana still sees %+v", v)
	}
	if v := rob.ask("GET", "/", nil).viewer(t); !v.May(p.till, viewer.Administers) || v.Administers(p.inst) {
		t.Errorf("rob has %+v", v)
	}
	p.must(p.WithdrawSignIns(p.app.ID, "dana"))
	p.clock.Advance(time.Minute)
	if got := dana.ask("GET", "/", nil); got.url.Path != "/signin" {
		t.Errorf("dana, who withdrew: %d %s", got.status, got.body)
	}
	p.clock.Advance(8 * time.Hour)
	calls = p.CountCalls()
	if got := rob.ask("GET", "/", nil); got.url.Path != "/signin" || p.CountCalls() != calls {
		t.Errorf("rob, the next day: %d %s, GitHub asked %d times", got.status, got.body, p.CountCalls()-calls)
	}
}

// The configured lifetime of a sign-in applies.
func TestSignInsOfAnHour(t *testing.T) {
	p := open(t)
	p.conf.Lifetime = time.Hour
	p.restart()
	dana := p.browser()
	dana.signIn("dana", "/")
	p.clock.Advance(59 * time.Minute)
	if got := dana.ask("GET", "/", nil); got.url.Path != "/" {
		t.Errorf("within the hour: %d at %s", got.status, got.url.Path)
	}
	p.clock.Advance(time.Minute)
	if got := dana.ask("GET", "/", nil); got.url.Path != "/signin" {
		t.Errorf("after the hour: %d at %s", got.status, got.url.Path)
	}
}

func TestWhileGitHubDoesNotAnswer(t *testing.T) {
	p := open(t)
	dana := p.browser()
	dana.signIn("dana", "/")
	p.FailRequests(func(r *http.Request) *ghsim.Fault {
		if strings.Contains(r.URL.Path, "/user/") {
			return &ghsim.Fault{Status: http.StatusBadGateway}
		}
		return nil
	})
	p.clock.Advance(4 * time.Minute)
	if v := dana.ask("GET", "/", nil).viewer(t); !v.May(p.shop, viewer.Writes) {
		t.Errorf("after four minutes dana sees %+v", v)
	}
	p.clock.Advance(time.Minute)
	got := dana.ask("GET", "/", nil)
	if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "githubstatus.com") {
		t.Errorf("after five: %d %s", got.status, got.body)
	}
	if got := dana.ask("POST", "/signin/callback", nil); got.status != http.StatusMethodNotAllowed {
		t.Errorf("a callback that is posted: %d", got.status)
	}
	if got := p.browser().signIn("rob", "/"); got.status != http.StatusServiceUnavailable {
		t.Errorf("who is new: %d", got.status)
	}
	p.ClearFaults()
	p.clock.Advance(10 * time.Second)
	if v := dana.ask("GET", "/", nil).viewer(t); !v.May(p.shop, viewer.Writes) {
		t.Errorf("afterwards dana sees %+v", v)
	}
}

// Strangers can't make SIA send requests to GitHub without limit.
func TestCallbacksAreBounded(t *testing.T) {
	p := open(t)
	if asked, refused := p.callBack(p.browser(), 40); asked != 30 || refused != 10 {
		t.Errorf("of 40 GitHub was asked about %d, and %d were refused", asked, refused)
	}
	if n := strings.Count(p.log.String(), "too many sign-ins"); n != 1 {
		t.Errorf("the log says so %d times:\n%s", n, p.log)
	}
	p.clock.Advance(time.Minute)
	if got := p.browser().signIn("dana", "/"); got.viewer(t).Actor.Login != "dana" {
		t.Errorf("a minute later: %d", got.status)
	}
}

// callBack sends a browser to the callback n times, with an invalid code.
func (p *place) callBack(b *browser, n int, pairs ...string) (asked, refused int) {
	p.t.Helper()
	for range n {
		u, err := url.Parse(b.stay().ask("GET", "/signin/github", nil).header.Get("Location"))
		p.must(err)
		got := b.ask("GET", "/signin/callback?code=x&state="+u.Query().Get("state"), nil, pairs...)
		switch got.status {
		case http.StatusBadGateway:
			asked++
		case http.StatusTooManyRequests:
			refused++
		default:
			p.t.Fatalf("%d %s", got.status, got.body)
		}
	}
	return asked, refused
}

// Callbacks without a started sign-in cause no requests to GitHub, and don't use up the address's limit.
func TestStrangersCallbacksLockNobodyOut(t *testing.T) {
	p := open(t)
	stranger := p.browser()
	stranger.ask("GET", "/signin/github", nil)
	calls := p.CountCalls()
	for range 2 * 30 { // five requests each: ten times the limit of an address
		for _, q := range []string{"", "?code=x&state=x", "?state=x", "?code=x", "?error=access_denied&state=x"} {
			if got := stranger.ask("GET", "/signin/callback"+q, nil); got.status != http.StatusBadRequest {
				t.Fatalf("%q: %d", q, got.status)
			}
		}
	}
	if n := p.CountCalls() - calls; n != 0 {
		t.Errorf("GitHub was asked %d times", n)
	}
	if got := p.browser().signIn("dana", "/"); got.viewer(t).Actor.Login != "dana" {
		t.Errorf("dana, at the same address: %d %s", got.status, got.body)
	}
}

// A stranger's page that leads a browser to the callback does not end a sign-in in progress.
func TestStrangersCallbacksEndNoSignIn(t *testing.T) {
	p := open(t)
	dana := p.browser()
	github := dana.ask("GET", "/signin/github", nil)
	for _, q := range []string{"", "?code=x&state=x", "?error=access_denied", "?state="} {
		if got := dana.ask("GET", "/signin/callback"+q, nil); got.status != http.StatusBadRequest {
			t.Errorf("%q: %d", q, got.status)
		}
	}
	if got := dana.allow("dana", github); got.viewer(t).Actor.Login != "dana" {
		t.Errorf("their own: %d %s", got.status, got.body)
	}
}

// Behind a trusted proxy, each visitor is counted separately: one who uses up the limit locks nobody out, and nobody
// can claim another address.
func TestOneVisitorLocksNobodyElseOut(t *testing.T) {
	p := open(t)
	p.behind("127.0.0.1")
	stranger := p.browser()
	if _, refused := p.callBack(stranger, 300, "X-Forwarded-For", "203.0.113.7"); refused != 270 {
		t.Errorf("%d of 300 were refused", refused)
	}
	if _, refused := p.callBack(stranger, 10, "X-Forwarded-For", "198.51.100.1, 203.0.113.7"); refused != 10 {
		t.Errorf("who calls themselves another: %d of 10 were refused", refused)
	}
	if asked, _ := p.callBack(p.browser(), 10, "X-Forwarded-For", "198.51.100.1"); asked != 10 {
		t.Errorf("of another visitor's, GitHub was asked about %d of 10", asked)
	}
	for i := range 40 { // an IPv6 line has all of its addresses
		asked, _ := p.callBack(stranger, 1, "X-Forwarded-For", fmt.Sprintf("2001:db8::%x", i+1))
		if (asked == 1) != (i < 30) {
			t.Errorf("address %d of a line: %d", i+1, asked)
		}
	}
}

// Cookies are inaccessible to scripts and other sites, and tokens are in nothing else.
func TestCookiesAndTokens(t *testing.T) {
	p := open(t)
	b := p.browser()
	back := b.stay().allow("dana", b.ask("GET", "/signin/github", nil)).header.Get("Location")
	got := b.stay().ask("GET", back, nil)
	for _, c := range got.header.Values("Set-Cookie") {
		if !strings.Contains(c, "HttpOnly") || !strings.Contains(c, "SameSite=Lax") || !strings.Contains(c, "Path=/") {
			t.Errorf("cookie %s", c)
		}
	}
	if all := p.log.String() + fmt.Sprint(got.header) + b.ask("GET", "/", nil).body; strings.Contains(all, "ghu_") ||
		strings.Contains(all, p.app.ClientSecret) {
		t.Errorf("a secret is shown:\n%s", all)
	}
	p.conf.PublicURL = "https://sia.example.com"
	p.restart()
	for _, c := range p.browser().stay().ask("GET", "/signin/github", nil).header.Values("Set-Cookie") {
		if !strings.HasPrefix(c, "__Host-sia-") || !strings.Contains(c, "Secure") {
			t.Errorf("by https: cookie %s", c)
		}
	}
	for _, address := range []string{"", "sia.example.com", "https://sia.example.com/pages", "ftp://sia.example.com"} {
		p.conf.PublicURL = address
		if _, err := signin.New(p.conf, nil); err == nil {
			t.Errorf("%q is taken for an address of pages", address)
		}
	}
}
