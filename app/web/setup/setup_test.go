package setup_test

import (
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/web/setup"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sim/ghsim"
)

// place is a GitHub, and a server in set-up.
type place struct {
	*ghsim.Server
	t      *testing.T
	dir    string
	pages  *httptest.Server
	log    *strings.Builder
	stored []setup.Registered
	clock  *clock
	conf   setup.RegistrationConfig
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

func open(t *testing.T, tune ...func(*setup.RegistrationConfig)) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir(), log: &strings.Builder{}, clock: &clock{now: time.Now()}}
	sim, err := ghsim.New(ghsim.Config{Dir: t.TempDir(), Clock: p.clock.Now})
	p.must(err)
	p.Server = sim
	t.Cleanup(func() { p.must(sim.Close()) })
	_, err = sim.Start("127.0.0.1:0")
	p.must(err)
	sim.CreateOrg("acme")
	p.conf = setup.RegistrationConfig{Dir: p.dir, GitHub: sim.URL(), Callback: "/signin/callback",
		Missing: func(setup.Registered) []string { return nil },
		Stored:  func(r setup.Registered) { p.stored = append(p.stored, r) },
		Logger:  slog.New(slog.NewTextHandler(p.log, nil)), Now: p.clock.Now}
	for _, f := range tune {
		f(&p.conf)
	}
	reg, err := setup.NewRegistration(p.conf)
	p.must(err)
	p.pages = httptest.NewServer(door(reg.Handler("")))
	t.Cleanup(p.pages.Close)
	return p
}

// door gives each browser its own token, as app/web/signin does.
func door(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("who")
		if err != nil {
			c = &http.Cookie{Name: "who", Value: rand.Text(), Path: "/"}
			http.SetCookie(w, c)
		}
		next.ServeHTTP(w, r.WithContext(viewer.With(r.Context(), viewer.Viewer{Operator: true, Token: c.Value})))
	})
}

func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// browser follows links and submits forms as people do.
type browser struct {
	p *place
	*http.Client
	body string
	url  *url.URL
	code int
}

func (p *place) browser() *browser {
	jar, err := cookiejar.New(nil)
	p.must(err)
	return &browser{p: p, Client: &http.Client{Jar: jar}}
}

func (b *browser) send(method, address string, form url.Values) {
	b.p.t.Helper()
	if b.url != nil {
		u, err := b.url.Parse(address)
		b.p.must(err)
		address = u.String()
	}
	req, err := http.NewRequestWithContext(b.p.t.Context(), method, address, strings.NewReader(form.Encode()))
	b.p.must(err)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", b.url.Scheme+"://"+b.url.Host)
	}
	resp, err := b.Do(req)
	b.p.must(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	b.p.must(err)
	b.body, b.url, b.code = string(body), resp.Request.URL, resp.StatusCode
}

func (b *browser) open(address string) {
	b.p.t.Helper()
	b.url = nil
	b.send(http.MethodGet, address, nil)
}

var (
	form   = regexp.MustCompile(`(?s)<form method="post" action="([^"]*)"[^>]*>(.*?)</form>`)
	inputs = regexp.MustCompile(`<input [^>]*>`)
	attr   = regexp.MustCompile(`(\w+)="([^"]*)"`)
	plain  = strings.NewReplacer("&#34;", `"`, "&amp;", "&", "&#39;", "'", "&lt;", "<", "&gt;", ">", "&#43;", "+")
)

// submit sends the page's form with its values, replaced by those in pairs.
func (b *browser) submit(pairs ...string) {
	b.p.t.Helper()
	m := form.FindStringSubmatch(b.body)
	if m == nil {
		b.p.t.Fatalf("%d at %s has no form: %s", b.code, b.url, b.body)
	}
	values := url.Values{}
	for _, in := range inputs.FindAllString(m[2], -1) {
		at := map[string]string{}
		for _, a := range attr.FindAllStringSubmatch(in, -1) {
			at[a[1]] = plain.Replace(a[2])
		}
		if at["type"] != "radio" || strings.Contains(in, " checked") {
			values.Set(at["name"], at["value"])
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	b.send(http.MethodPost, plain.Replace(m[1]), values)
}

const public = "https://sia.example.com"

func TestRegisteringCopiesNoSecret(t *testing.T) {
	p := open(t)
	b := p.browser()
	b.open(p.pages.URL)
	b.submit("owner", "org", "org", "acme", "name", "Acme SIA", "public_url", public+"/")
	for _, want := range []string{"the organisation <b>acme</b>",
		`<th scope="row">Contents</th><td>Read and write</td><td>read the code and the settings`,
		`<th scope="row">Issues</th><td>the label that starts a task`, public + "/webhook"} {
		if !strings.Contains(b.body, want) {
			t.Fatalf("lacks %q: %d %s", want, b.code, b.body)
		}
	}
	b.submit()
	if b.url.Path != "/organizations/acme/settings/apps/new" || !strings.Contains(b.body, "Register Acme SIA for acme") {
		t.Fatalf("%d at %s: %s", b.code, b.url, b.body)
	}
	b.submit()
	if b.url.String() != p.pages.URL+"/setup" || !strings.Contains(b.body, "<b>Acme SIA</b> is registered") {
		t.Fatalf("%d at %s: %s", b.code, b.url, b.body)
	}
	got, ok, err := setup.Load(p.dir)
	p.must(err)
	if !ok || len(p.stored) != 1 || got.Slug != "acme-sia" || got.Owner != "acme" || got.PublicURL != public ||
		got.ClientSecret == "" || !strings.Contains(got.PrivateKey, "PRIVATE KEY") || got.WebhookSecret == "" ||
		got.Page != p.URL()+"/apps/acme-sia" {
		t.Errorf("stored %d times: %s, owner %s, page %s", len(p.stored), got, got.Owner, got.Page)
	}
	info, err := os.Stat(filepath.Join(p.dir, setup.File))
	p.must(err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %s", info.Mode())
	}
	p.conf.Logger.Info("stored", "app", got)
	for _, secret := range []string{got.ClientSecret, got.WebhookSecret, got.PrivateKey[40:80]} {
		if strings.Contains(b.body+p.log.String(), secret) {
			t.Errorf("a secret is shown or logged")
		}
	}
	if files, _ := os.ReadDir(p.dir); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
	// A second registration, started meanwhile or later, does nothing.
	b.send(http.MethodGet, "/setup/manual", nil)
	if b.url.Path != "/setup" || len(p.stored) != 1 {
		t.Errorf("%s", b.url)
	}
}

func TestChoicesAreChecked(t *testing.T) {
	p := open(t)
	for name, c := range map[string]struct {
		pairs []string
		want  string
	}{
		"an organisation that is none": {[]string{"owner", "org", "org", "../acme"}, "is no organisation"},
		"no organisation":              {[]string{"owner", "org", "org", ""}, "name the organisation"},
		"an organisation beside one's own account": {[]string{"org", " acme"},
			"you typed the organisation acme and chose your own account: choose “An organisation …”, or empty the field"},
		"a long name":                  {[]string{"name", strings.Repeat("x", 35)}, "1 to 34 characters"},
		"no name":                      {[]string{"name", "  "}, "1 to 34 characters"},
		"a script for GitHub":          {[]string{"github", "javascript:alert(1)"}, "GitHub&#39;s address"},
		"GitHub with a path":           {[]string{"github", "https://github.com/acme"}, "GitHub&#39;s address"},
		"GitHub with a user":           {[]string{"github", "https://a:b@github.com"}, "GitHub&#39;s address"},
		"no public address":            {[]string{"public_url", ""}, "the public address of this server"},
		"a public address with a path": {[]string{"public_url", public + "/webhook"}, "the public address of this server"},
		"a very long address": {[]string{"public_url", "https://" + strings.Repeat("a", 4000)},
			"the public address of this server"},
		"an organisation that is markup": {[]string{"owner", "org", "org", `"><script>`}, "is no organisation"},
	} {
		b := p.browser()
		b.open(p.pages.URL)
		b.submit(append([]string{"public_url", public}, c.pairs...)...)
		if b.code != http.StatusUnprocessableEntity || !strings.Contains(b.body, c.want) ||
			strings.Contains(b.body, "<script>") {
			t.Errorf("%s: %d %s", name, b.code, b.body)
		}
	}
	b := p.browser()
	b.open(p.pages.URL)
	b.submit("public_url", public, "org", "acme")
	if !strings.Contains(b.body, `value="me" checked`) || !strings.Contains(b.body, `name="org" value="acme"`) {
		t.Errorf("what was chosen and typed is not in the form: %s", b.body)
	}
	b.submit("org", "")
	if b.code != http.StatusOK || !strings.Contains(b.body, "for your own account") {
		t.Errorf("without the organisation: %d %s", b.code, b.body)
	}
}

// A GitHub Enterprise Server may reach addresses that github.com can't.
func TestAddressesThatGitHubMayNotReach(t *testing.T) {
	p := open(t)
	for _, c := range []struct{ github, public, want string }{
		{"https://github.com", "http://192.168.1.7:8080", "GitHub has to reach it, and does not take it"},
		{"https://acme.ghe.com", "https://localhost", "GitHub has to reach it, and does not take it"},
		{"https://github.acme.example", "https://10.0.0.7", ""},
		{"https://github.acme.example", "http://10.0.0.7", "is not encrypted"},
		{"https://github.acme.example", "https://127.0.0.1", "is an address of this machine alone: your GitHub"},
		{"https://github.com", "https://sia.example.com", ""},
	} {
		b := p.browser()
		b.open(p.pages.URL)
		b.submit("github", c.github, "public_url", c.public)
		if b.code != http.StatusOK || !strings.Contains(b.body, c.want) ||
			strings.Contains(b.body, "flash") != (c.want != "") {
			t.Errorf("%s and %s: %d %s", c.github, c.public, b.code, b.body)
		}
	}
}

// Requests for other addresses are led to set-up while there is no app.
func TestOtherPagesBeforeSetUp(t *testing.T) {
	b := open(t).browser()
	b.open(b.p.pages.URL + "/tasks?page=2")
	if b.code != http.StatusOK || b.url.Path != "/setup" {
		t.Errorf("%d at %s", b.code, b.url)
	}
}

// begun is a browser that GitHub is about to send back.
func (p *place) begun(pairs ...string) (*browser, string) {
	p.t.Helper()
	b := p.browser()
	b.open(p.pages.URL)
	b.submit(append([]string{"public_url", public}, pairs...)...)
	b.submit()
	b.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Path == "/setup/done" {
			return http.ErrUseLastResponse
		}
		return nil
	}
	var back string
	follow := b.Transport
	b.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err == nil && resp.Header.Get("Location") != "" {
			back = resp.Header.Get("Location")
		}
		return resp, err
	})
	b.submit()
	b.Transport, b.CheckRedirect = follow, nil
	return b, back
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A registration must be completed in the same browser, within the hour, and with a code of GitHub's.
func TestRegistrationsAreBoundToTheirBrowser(t *testing.T) {
	p := open(t)
	b, back := p.begun()
	if !strings.HasPrefix(back, p.pages.URL+"/setup/done?code=") {
		t.Fatalf("GitHub sends back to %s", back)
	}
	other := p.browser()
	other.open(p.pages.URL)
	u, err := url.Parse(back)
	p.must(err)
	with := func(name, value string) string {
		q := u.Query()
		q.Set(name, value)
		return p.pages.URL + "/setup/done?" + q.Encode()
	}
	for name, try := range map[string]struct {
		who     *browser
		address string
		code    int
	}{
		"another browser":         {other, back, http.StatusBadRequest},
		"another state":           {b, with("state", "x"), http.StatusBadRequest},
		"no state":                {b, with("state", ""), http.StatusBadRequest},
		"a path for a code":       {b, with("code", "../../user"), http.StatusBadGateway},
		"no code":                 {b, with("code", ""), http.StatusBadGateway},
		"a code that is not one":  {b, with("code", "abc"), http.StatusBadGateway},
		"a code as long as a log": {b, with("code", strings.Repeat("a", 5000)), http.StatusBadGateway},
	} {
		if try.who.open(try.address); try.who.code != try.code || len(p.stored) != 0 {
			t.Errorf("%s: %d %s", name, try.who.code, try.who.body)
		}
	}
	if b.open(back); b.url.Path != "/setup" || len(p.stored) != 1 {
		t.Errorf("its own: %d at %s, %s", b.code, b.url, b.body)
	}

	late := open(t)
	b, back = late.begun()
	late.clock.Advance(time.Hour)
	if b.open(back); b.code != http.StatusBadRequest || len(late.stored) != 0 {
		t.Errorf("an hour later: %d %s", b.code, b.body)
	}
}

// Of two completed registrations the second is not used, and its page names the unused app at GitHub.
func TestASecondRegistration(t *testing.T) {
	p := open(t)
	b, back := p.begun()
	second, other := p.begun("name", "Other SIA")
	b.open(back)
	if b.open(back); len(p.stored) != 1 || strings.Contains(b.body, "another app") {
		t.Fatalf("the first, loaded again: %d stored, %s", len(p.stored), b.body)
	}
	second.open(other)
	if second.url.Path != "/setup" || len(p.stored) != 1 ||
		!strings.Contains(second.body, "SIA has its app already") || !strings.Contains(second.body, "GitHub Apps") {
		t.Errorf("the second: %d stored, %s", len(p.stored), second.body)
	}
}

// Keys that GitHub hands out only once are kept when they can't be stored, and GitHub's failures are not final.
func TestKeysAreNotLost(t *testing.T) {
	p := open(t)
	b, back := p.begun()
	p.FailRequests(ghsim.Once(ghsim.Fault{Status: http.StatusBadGateway},
		func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/conversions") }))
	if b.open(back); b.code != http.StatusBadGateway || !strings.Contains(b.body, "load this page again") {
		t.Fatalf("%d %s", b.code, b.body)
	}
	p.ClearFaults()
	// The folder disappears between GitHub's page and the answer.
	aside := p.dir + ".aside"
	p.must(os.Rename(p.dir, aside))
	if b.open(back); b.code != http.StatusInternalServerError || !strings.Contains(b.body, "its keys are still there") {
		t.Fatalf("%d %s", b.code, b.body)
	}
	p.must(os.Rename(aside, p.dir))
	if b.open(back); b.url.Path != "/setup" || len(p.stored) != 1 {
		t.Errorf("%d at %s: %s", b.code, b.url, b.body)
	}
}

// A folder without write permission is reported before GitHub registers an app, and a stored app is not overwritten
// without consent.
func TestWhatIsStoredStays(t *testing.T) {
	p := open(t)
	b, back := p.begun() // started when nothing was stored
	old := `{"github":"https://github.com","id":7,"slug":"old","pem":"k","webhook_secret":"s"}`
	path := filepath.Join(p.dir, setup.File)
	p.must(os.WriteFile(path, []byte(old), 0o600))
	if b.open(back); b.code != http.StatusInternalServerError || len(p.stored) != 0 {
		t.Errorf("%d %s", b.code, b.body)
	}
	another := p.browser()
	another.open(p.pages.URL)
	another.submit("public_url", public)
	if another.code != http.StatusUnprocessableEntity || !strings.Contains(another.body, "--replace") {
		t.Errorf("%d %s", another.code, another.body)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != old {
		t.Errorf("%s, %v", got, err)
	}
	p.must(os.Remove(path))
	p.must(os.Rename(p.dir, p.dir+".gone"))
	another.open(p.pages.URL)
	another.submit("public_url", public)
	if another.code != http.StatusUnprocessableEntity || !strings.Contains(another.body, "--dir") {
		t.Errorf("%d %s", another.code, another.body)
	}

	for aside, old := range map[string]string{"github-app-7.json": old, "github-app-unusable-2.json": old[:40]} {
		r := open(t, func(c *setup.RegistrationConfig) { c.Replace = true })
		r.must(os.WriteFile(filepath.Join(r.dir, setup.File), []byte(old), 0o600))
		r.must(os.WriteFile(filepath.Join(r.dir, "github-app-unusable-1.json"), nil, 0o600))
		b, back = r.begun()
		b.open(back)
		got, _, err := setup.Load(r.dir)
		r.must(err)
		kept, err := os.ReadFile(filepath.Join(r.dir, aside))
		r.must(err)
		if got.ID == 7 || string(kept) != old {
			t.Errorf("%s in its place, %s kept", got, kept)
		}
	}
}

func TestBrokenFiles(t *testing.T) {
	for name, content := range map[string]string{"empty": "", "half": `{"id": 7`,
		"without keys": `{"id": 7, "github": "https://github.com"}`, "large": strings.Repeat(" ", 2<<20) + "{}"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, setup.File), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := setup.Load(dir); err == nil || !strings.Contains(err.Error(), "restore it from a backup") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok, err := setup.Load(t.TempDir()); ok || err != nil {
		t.Errorf("no file: %v, %v", ok, err)
	}
}

func TestRegisteringByHand(t *testing.T) {
	p := open(t)
	app, err := p.CreateApp("by-hand")
	p.must(err)
	b := p.browser()
	b.open(p.pages.URL + "/setup/manual")
	for _, want := range []string{`<th scope="row">Pull requests</th><td>Read and write</td>`,
		`<th scope="row">Commit statuses</th><td>Read-only</td>`, `<th scope="row">Check run</th>`,
		"https://your-host/signin/callback", "Webhook secret"} {
		if !strings.Contains(b.body, want) {
			t.Errorf("lacks %s: %s", want, b.body)
		}
	}
	secret := regexp.MustCompile(`name="webhook_secret" value="([^"]{26,})"`).FindStringSubmatch(b.body)
	if secret == nil {
		t.Fatal("no secret was made")
	}
	again := p.browser()
	if again.open(p.pages.URL + "/setup/manual"); !strings.Contains(again.body, secret[0]) {
		t.Error("another secret is shown, although the first may be on GitHub already")
	}
	key := string(app.PrivateKeyPEM)
	for name, pairs := range map[string][]string{
		"no address":     {"id", strconv.FormatInt(app.ID, 10), "key", key, "public_url", ""},
		"no number":      {"id", "seven", "key", key},
		"another app's":  {"id", "999999", "key", key},
		"no key":         {"id", strconv.FormatInt(app.ID, 10), "key", "none"},
		"half a sign-in": {"id", strconv.FormatInt(app.ID, 10), "key", key, "client_id", app.ClientID},
		"no secret":      {"id", strconv.FormatInt(app.ID, 10), "key", key, "webhook_secret", " "},
	} {
		b.open(p.pages.URL + "/setup/manual")
		b.submit(append([]string{"public_url", public}, pairs...)...)
		if b.code != http.StatusUnprocessableEntity || len(p.stored) != 0 || strings.Contains(b.body, "PRIVATE KEY") {
			t.Errorf("%s: %d %s", name, b.code, b.body)
		}
	}
	b.submit("public_url", public, "id", strconv.FormatInt(app.ID, 10), "key", key, "client_id", app.ClientID,
		"client_secret", app.ClientSecret, "webhook_secret", secret[1])
	if b.url.Path != "/setup" || len(p.stored) != 1 || p.stored[0].WebhookSecret != secret[1] ||
		p.stored[0].Slug != "by-hand" {
		t.Errorf("%d at %s: %s", b.code, b.url, b.body)
	}
}

// The embedded manifest is app.yml.
func TestTheManifestIsAppYML(t *testing.T) {
	own, err := os.ReadFile("app.yml")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile("../../../app.yml")
	if err != nil {
		t.Fatal(err)
	}
	if string(own) != string(whole) {
		t.Error("app/web/setup/app.yml differs from app.yml: copy it there")
	}
}

// Missing settings are listed at the beginning and at the end.
func TestMissingModels(t *testing.T) {
	p := open(t, func(c *setup.RegistrationConfig) {
		c.Missing = func(setup.Registered) []string { return []string{"no model is configured: set --model-url"} }
	})
	b, back := p.begun()
	b.open(p.pages.URL)
	if !strings.Contains(b.body, "no model is configured") {
		t.Errorf("at the beginning: %s", b.body)
	}
	b.open(back)
	if !strings.Contains(b.body, "stop it, add what is missing") || strings.Contains(b.body, "http-equiv") {
		t.Errorf("at the end: %s", b.body)
	}
}
