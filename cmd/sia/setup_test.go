package main

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/web/setup"
	"github.com/sia-bot/sia/app/web/webtest"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/scripted"
)

// surfer follows links and forms as a browser does.
type surfer struct {
	t *testing.T
	*http.Client
	at   *url.URL
	code int
	body string
}

func newSurfer(t *testing.T) *surfer {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &surfer{t: t, Client: &http.Client{Jar: jar, Timeout: time.Minute}}
}

func (s *surfer) open(address string) { s.t.Helper(); s.send(http.MethodGet, address, nil) }

func (s *surfer) send(method, address string, form url.Values) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", s.at.Scheme+"://"+s.at.Host)
	}
	resp, err := s.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	s.at, s.code, s.body = resp.Request.URL, resp.StatusCode, string(body)
}

var (
	pageForm  = regexp.MustCompile(`(?s)<form method="post" action="([^"]*)"[^>]*>(.*?)</form>`)
	pageInput = regexp.MustCompile(`<input [^>]*>`)
	pageAttr  = regexp.MustCompile(`(\w+)="([^"]*)"`)
	unescaped = strings.NewReplacer("&#34;", `"`, "&amp;", "&", "&#39;", "'", "&#43;", "+")
)

// submit sends the page's form, changed by pairs of name and value.
func (s *surfer) submit(pairs ...string) {
	s.t.Helper()
	m := pageForm.FindStringSubmatch(s.body)
	if m == nil {
		s.t.Fatalf("%d at %s has no form: %s", s.code, s.at, s.body)
	}
	values := url.Values{}
	for _, in := range pageInput.FindAllString(m[2], -1) {
		at := map[string]string{}
		for _, a := range pageAttr.FindAllStringSubmatch(in, -1) {
			at[a[1]] = unescaped.Replace(a[2])
		}
		if kind := at["type"]; kind != "checkbox" && (kind != "radio" || strings.Contains(in, " checked")) {
			values.Set(at["name"], at["value"])
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	to, err := s.at.Parse(unescaped.Replace(m[1]))
	if err != nil {
		s.t.Fatal(err)
	}
	s.send(http.MethodPost, to.String(), values)
}

// shopGitHub starts a GitHub with ada's repository, which has a check for a greeting.
func shopGitHub(t *testing.T) *ghsim.Server {
	t.Helper()
	sim, err := ghsim.New(ghsim.Config{Dir: filepath.Join(t.TempDir(), "github")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := sim.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	sim.CreateUser("ada")
	sim.CreateUser("mallory")
	_, err = sim.CreateRepo("ada", "shop", ghsim.RepoSpec{Files: map[string]string{
		"check.sh": "grep -q hello hello.txt\n",
		".github/workflows/ci.yml": "name: CI\non: [pull_request]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n" +
			"      - uses: actions/checkout@v4\n      - run: sh ./check.sh\n",
	}})
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// greeter starts a model that does what the issue asks for.
func greeter(t *testing.T) *scripted.Server {
	t.Helper()
	m, err := scripted.Start(scripted.Script{Rules: []scripted.Rule{{Name: "1", Model: "big", Turns: []scripted.Answer{
		{Calls: []scripted.Call{{Name: "write", Args: map[string]any{"path": "hello.txt", "content": "hello\n"}}}},
		{Calls: []scripted.Call{{Name: "finish", Args: map[string]any{"summary": "Done."}}}},
	}}}}, scripted.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// running starts a command, waits for an output, and stops it at the end of the test; code is the expected exit code.
func running(t *testing.T, code int, until string, args ...string) *watched {
	t.Helper()
	up := make(chan struct{})
	log := &watched{until: until, then: sync.OnceFunc(func() { close(up) })}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- runCommand(ctx, args, log, log) }()
	t.Cleanup(func() {
		cancel()
		if got := <-ended; got != code {
			t.Errorf("%s ended with %d, want %d:\n%s", args[0], got, code, log)
		}
	})
	select {
	case <-up:
	case <-time.After(time.Minute):
		t.Fatalf("%q was not said within a minute:\n%s", until, log)
	}
	return log
}

// From an empty folder to the first labelled issue's pull request and to a user who signs in, in one process and
// without typing a secret: in a browser on the server's machine; and from elsewhere, with the link on the terminal and
// without scripts. GitHub is another site than SIA, as in production.
//
//test:thorough
func TestSetUpInABrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	t.Run("here", func(t *testing.T) {
		t.Parallel()
		s := newSetUp(browser, t, true)
		hook := found(t, s.log, `webhooks=127.0.0.1:(\d+)/webhook`)
		resp, err := http.Post("http://127.0.0.1:"+hook+"/webhook", "application/json", strings.NewReader("{}"))
		if err != nil || resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("a webhook before set-up: %v %v", resp, err)
		}
		if code, _ := get(t, "http://127.0.0.1:"+hook+"/setup"); code != http.StatusNotFound {
			t.Errorf("/setup is public: %d", code)
		}
		private := "http://localhost:" + found(t, s.log, ` setup=http://127.0.0.1:(\d+)`)
		s.open(private + "/setup")
		s.types("public_url", "http://localhost:"+hook)
		s.register(private)
		s.install(private)
		s.firstPull()
		s.signsIn("http://localhost:" + hook)
		s.open(private + "/") // the operator is not signed in
		s.shows("ada/shop")
		if code, body := get(t, private+"/healthz"); code != http.StatusOK {
			t.Errorf("/healthz: %d %s", code, body)
		}
		for _, path := range []string{"/healthz", "/readyz"} {
			if code, _ := get(t, "http://127.0.0.1:"+hook+path); code != http.StatusUnauthorized {
				t.Errorf("%s is public: %d", path, code)
			}
		}
	})
	t.Run("elsewhere, without scripts", func(t *testing.T) {
		t.Parallel()
		at := strings.Replace(apptest.FreeAddress(t), "127.0.0.1", "localhost", 1)
		public := "http://" + at
		s := newSetUp(browser, t, false, "--listen", at, "--public-url", public)
		link := found(t, s.log, `(http://\S+/setup\?token=\S+)`)
		early := newSurfer(t)
		if early.open(public + "/tasks"); !strings.Contains(early.body, "open the last link on its terminal") {
			t.Errorf("a page, before set-up: %d %s", early.code, early.body)
		}
		s.open(link)
		s.presses("Go on in this browser")
		s.register(public)
		other := newSurfer(t)
		if other.open(link); other.code != http.StatusForbidden {
			t.Errorf("another browser sees set-up: %d %s", other.code, other.body)
		}
		if other.open(public); other.at.Path != "/signin" {
			t.Errorf("another browser sees pages: %d at %s", other.code, other.at)
		}
		s.install(public)
		s.firstPull()
		s.open(public) // who set it up sees set-up, and pages as everybody does
		s.shows("Sign in")
		s.signsIn(public)
	})
}

// settingUp is a user who sets a server up for a GitHub.
type settingUp struct {
	*window
	sim *ghsim.Server
	dir string
	log *watched
}

// newSetUp starts a server without an app, and a GitHub.
func newSetUp(browser context.Context, t *testing.T, scripts bool, args ...string) *settingUp {
	t.Helper()
	s := &settingUp{sim: shopGitHub(t), dir: filepath.Join(t.TempDir(), "sia")}
	model := greeter(t)
	s.log = running(t, cli.ExitDone, "waiting for set-up",
		append([]string{"serve", "--listen", "127.0.0.1:0", "--private", "127.0.0.1:0",
			"--dir", s.dir, "--github-url", s.sim.URL(), "--model-url", model.URL, "--model", "big", "--free",
			"--write-spacing", "1ms"},
			args...)...)
	s.window = newWindow(browser, t, scripts)
	t.Cleanup(s.noSecrets)
	return s
}

// noSecrets fails where a secret was typed, seen or logged.
func (s *settingUp) noSecrets() {
	stored, ok, err := setup.Load(s.dir)
	if err != nil || !ok {
		s.t.Errorf("the app is not stored: %v", err)
		return
	}
	for _, secret := range []string{stored.WebhookSecret, stored.ClientSecret, "PRIVATE KEY", "ghu_", "ghs_"} {
		for where, text := range map[string]string{"typed": s.typed.String(), "shown": s.seen.String(),
			"logged": s.log.String()} {
			if strings.Contains(text, secret) {
				s.t.Errorf("a secret is %s", where)
			}
		}
	}
}

// register goes from the open form through GitHub's page back to SIA, which then starts to serve.
func (s *settingUp) register(base string) {
	s.t.Helper()
	s.types("name", "Shop SIA")
	s.presses("Continue")
	s.shows("What it may do, and why")
	s.presses("Register the app on GitHub")
	s.shows("It asks for these permissions")
	if !strings.HasPrefix(s.address(), s.sim.URL()+"/settings/apps/new?state=") {
		s.t.Errorf("GitHub asks at %s", s.address())
	}
	s.presses("Create the app")
	s.shows("Install it on repositories") // after the page about storing, which redirects
	s.shows("came before this server was started")
	if page := s.seen.String(); strings.Contains(page, "✗") {
		s.t.Errorf("what goes as it should is shown as wrong:\n%s", page)
	}
	if s.address() != base+"/setup" {
		s.t.Errorf("GitHub leads back to %s", s.address())
	}
}

// install selects the app's repositories, from set-up's link.
func (s *settingUp) install(base string) {
	s.t.Helper()
	s.presses("Install on GitHub")
	s.shows("Install Shop SIA")
	s.presses("Install")
	s.shows("Shop SIA is installed.")
	s.open(base + "/setup")
	s.shows("✓ It is installed.")
	s.shows("✓ Webhooks arrive.")
}

// firstPull opens a labelled issue, and waits for its pull request.
func (s *settingUp) firstPull() {
	s.t.Helper()
	s.open(s.sim.URL() + "/ada/shop/issues/new")
	s.types("title", "Greet")
	s.types("body", "Put hello into hello.txt.")
	s.types("label", "sia")
	s.presses("Open issue")
	s.shows("opened this")
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	if _, err := s.sim.WaitEntry(ctx, 0, func(e ghsim.Entry) bool { return e.Kind == "pull_request.opened" }); err != nil {
		s.t.Fatalf("no pull request: %v\n%s", err, s.log)
	}
	s.open(s.sim.URL() + "/ada/shop/pulls")
	s.shows("Greet")
}

// signsIn makes ada sign in to SIA's pages with GitHub.
func (s *settingUp) signsIn(public string) {
	s.t.Helper()
	s.open(public + "/tasks")
	s.presses("Sign in with GitHub")
	s.shows("choose who you are")
	s.presses("ada")
	s.shows("Greet")
	if s.address() != public+"/tasks" {
		s.t.Errorf("sign-in leads to %s", s.address())
	}
}

// The next start finds the stored app.
func TestSetupThenServe(t *testing.T) {
	sim, model, dir := shopGitHub(t), greeter(t), filepath.Join(t.TempDir(), "sia")
	up, done := make(chan struct{}), make(chan int, 1)
	log := &watched{until: "/setup\n", then: sync.OnceFunc(func() { close(up) })}
	go func() {
		done <- runCommand(t.Context(),
			[]string{"setup", "--dir", dir, "--github-url", sim.URL(), "--public-url", "http://127.0.0.1:9",
				"--name", "My SIA"}, log, log)
	}()
	<-up
	b := newSurfer(t)
	b.open(found(t, log, `(http://\S+/setup)`))
	b.submit()
	b.submit()
	b.submit()
	if code := <-done; code != cli.ExitDone {
		t.Fatalf("setup ended with %d: %s", code, log)
	}
	for _, want := range []string{"My SIA", sim.URL() + "/apps/my-sia/installations/new", "sia serve", setup.File} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("setup does not say %s:\n%s", want, log)
		}
	}
	running(t, cli.ExitDone, "pages, for this machine only", "serve",
		"--listen", "127.0.0.1:0", "--private", "127.0.0.1:0",
		"--dir", dir, "--model-url", model.URL, "--model", "big", "--free")
	var out strings.Builder
	if code := runCommand(t.Context(), []string{"setup", "--dir", dir}, &out, &out); code != cli.ExitFailed ||
		!strings.Contains(out.String(), "--replace") {
		t.Errorf("setup again: %d %s", code, out.String())
	}
}

// With a public address, the link on the terminal admits one browser from elsewhere; if models are missing, set-up
// reports that and keeps running.
func TestServeSetUpFromElsewhere(t *testing.T) {
	t.Parallel()
	sim, dir := shopGitHub(t), filepath.Join(t.TempDir(), "sia")
	l := apptest.FreeAddress(t)
	log := running(t, cli.ExitDone, "waiting for set-up", "serve", "--listen", l, "--private", "127.0.0.1:0", "--dir", dir,
		"--github-url", sim.URL(), "--public-url", "http://"+l)
	link := found(t, log, `(http://\S+/setup\?token=\S+)`)
	newSurfer(t).open(link) // a chat's preview
	b := newSurfer(t)
	b.open(link)
	b.submit()
	if !strings.Contains(b.body, "no model is configured") {
		t.Errorf("%d %s", b.code, b.body)
	}
	other := newSurfer(t)
	if other.open(link); other.code != http.StatusForbidden {
		t.Errorf("a second browser: %d %s", other.code, other.body)
	}
	b.submit()
	b.submit()
	b.submit()
	if b.at.String() != "http://"+l+"/setup" || !strings.Contains(b.body, "stop it, add what is missing") {
		t.Errorf("%d at %s: %s", b.code, b.at, b.body)
	}
	if _, ok, err := setup.Load(dir); !ok || err != nil {
		t.Errorf("stored: %v %v", ok, err)
	}
}

// Ctrl-C in set-up prints the usual message.
func TestSetupIsStopped(t *testing.T) {
	up := make(chan struct{})
	log := &watched{until: "/setup\n", then: sync.OnceFunc(func() { close(up) })}
	ctx, cancel := context.WithCancel(t.Context())
	done, dir := make(chan int, 1), t.TempDir()
	go func() { done <- runCommand(ctx, []string{"setup", "--dir", dir}, log, log) }()
	<-up
	cancel()
	if code := <-done; code != cli.ExitStopped || !strings.Contains(log.String(), "Stopped.") {
		t.Errorf("%d %s", code, log)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v %v", files, err)
	}
}
