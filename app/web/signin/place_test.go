package signin_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/clientaddr"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/web/signin"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sim/ghsim"
)

// place is a GitHub with an app, and pages behind sign-in. The pages return the viewer, and count actions.
type place struct {
	*ghsim.Server
	t     *testing.T
	app   ghsim.App
	inst  int64
	shop  int64 // where roles differ
	till  int64 // of the same installation
	pages *httptest.Server
	log   *bytes.Buffer
	clock *clock
	conf  signin.Config

	mu   sync.Mutex
	done int
	door http.Handler

	proxies clientaddr.Proxies // before the pages
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// open makes a place: acme's installation on shop and till, both administered by ada; meg administers only the shop,
// dana has write access there, tim triage, rob read.
func open(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, log: &bytes.Buffer{},
		clock: &clock{now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}}
	sim, err := ghsim.New(ghsim.Config{Dir: t.TempDir(), Clock: p.clock.Now})
	p.must(err)
	p.Server = sim
	t.Cleanup(func() { p.must(sim.Close()) })
	_, err = sim.Start("127.0.0.1:0")
	p.must(err)
	sim.CreateOrg("acme")
	sim.CreateUser("mallory")
	for i, name := range []string{"shop", "till"} {
		r, err := sim.CreateRepo("acme", name, ghsim.RepoSpec{Files: map[string]string{"a": "a"}, Public: i == 0})
		p.must(err)
		p.must(sim.SetPermission("acme/"+name, "ada", "admin"))
		if name == "shop" {
			p.shop = r.ID
		} else {
			p.till = r.ID
		}
	}
	for login, role := range map[string]string{"meg": "admin", "dana": "write", "tim": "triage", "rob": "read"} {
		p.must(sim.SetPermission("acme/shop", login, role))
	}
	p.app, err = sim.CreateApp("sia")
	p.must(err)
	p.inst, err = sim.Install(p.app.ID, "acme", "shop", "till")
	p.must(err)
	a, err := github.New(github.Config{AppID: p.app.ID, PrivateKey: p.app.PrivateKeyPEM, BaseURL: sim.APIURL(),
		Secrets: &secret.Masker{}, Writes: github.Uncounted{}, Now: p.clock.Now})
	p.must(err)
	p.pages = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		door := clientaddr.Behind(p.proxies, p.door)
		p.mu.Unlock()
		door.ServeHTTP(w, r)
	}))
	t.Cleanup(p.pages.Close)
	p.must(sim.SetCallbackURL(p.app.ID, p.pages.URL+signin.CallbackPath))
	p.conf = signin.Config{GitHub: sim.URL(), API: sim.APIURL(), ClientID: p.app.ClientID,
		ClientSecret: p.app.ClientSecret, PublicURL: p.pages.URL, Installed: a,
		Logger: slog.New(slog.NewTextHandler(p.log, nil)), Now: p.clock.Now}
	p.restart()
	return p
}

// restart simulates a restart of the server.
func (p *place) restart() {
	p.t.Helper()
	door, err := signin.New(p.conf, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			p.mu.Lock()
			p.done++
			p.mu.Unlock()
		}
		p.must(json.NewEncoder(w).Encode(viewer.From(r.Context())))
	}))
	p.must(err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.door = door
}

// behind makes the pages trust a proxy.
func (p *place) behind(proxy string) {
	p.t.Helper()
	proxies, err := clientaddr.Parse([]string{proxy})
	p.must(err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proxies = proxies
}

func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// browser is one person's browser.
type browser struct {
	p *place
	*http.Client
}

func (p *place) browser() *browser {
	jar, err := cookiejar.New(nil)
	p.must(err)
	return &browser{p, &http.Client{Jar: jar}}
}

// stay turns off following redirects.
func (b *browser) stay() *browser {
	c := *b.Client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &browser{b.p, &c}
}

type answer struct {
	status int
	header http.Header
	body   string
	url    *url.URL // the final address
}

// ask sends a request as a browser does; pairs are headers.
func (b *browser) ask(method, address string, form url.Values, pairs ...string) answer {
	b.p.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.p.pages.URL + address
	}
	req, err := http.NewRequestWithContext(b.p.t.Context(), method, address, strings.NewReader(form.Encode()))
	b.p.must(err)
	req.Header.Set("Accept", "text/html")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(pairs); i += 2 {
		req.Header.Set(pairs[i], pairs[i+1])
	}
	resp, err := b.Do(req)
	b.p.must(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	b.p.must(err)
	return answer{resp.StatusCode, resp.Header, string(body), resp.Request.URL}
}

// viewer returns the viewer reported by the pages.
func (a answer) viewer(t *testing.T) (v viewer.Viewer) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("%d at %s is no page: %s", a.status, a.url, a.body)
	}
	return v
}

var input = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
var link = regexp.MustCompile(`href="(/signin/github[^"]*)"`)

// signIn requests a page, follows the redirect to GitHub, signs in there, and returns the final answer.
func (b *browser) signIn(login, page string) answer {
	b.p.t.Helper()
	offer := b.ask("GET", page, nil)
	to := link.FindStringSubmatch(offer.body)
	if to == nil {
		b.p.t.Fatalf("%s offers no sign-in: %d %s", page, offer.status, offer.body)
	}
	return b.allow(login, b.ask("GET", strings.ReplaceAll(to[1], "&amp;", "&"), nil))
}

// allow submits GitHub's page.
func (b *browser) allow(login string, github answer) answer {
	b.p.t.Helper()
	form := url.Values{"login": {login}}
	for _, m := range input.FindAllStringSubmatch(github.body, -1) {
		form.Set(m[1], m[2])
	}
	return b.ask("POST", b.p.URL()+"/login/oauth/authorize", form, "Origin", b.p.URL())
}
