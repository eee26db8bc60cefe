package app_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/webhook"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// A lane is a simulator and the parts of an application in which worlds are played one after the other, each in its own
// repository. It has the clock.
type lane struct {
	t     testing.TB
	sim   *ghsim.Server
	clock *apptest.Clock
	parts *app.Parts
	ctx   context.Context

	install int64
	appID   int64
	other   int64 // a repository with workflows of its own

	// called before each request of the application to GitHub; nil: nothing
	meanwhile func()

	mu   sync.Mutex
	mail []store.Delivery // sent by the simulator and not taken by a world
}

// owner owns all repositories; ada works in them.
const (
	owner  = "ada"
	member = "bob"
)

// shortKey is the app's private key. Signing with a long one takes a tenth of the whole time.
var shortKey = sync.OnceValue(func() []byte {
	k, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		panic("make a key: " + err.Error())
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)})
})

func newLane(t testing.TB) *lane {
	t.Helper()
	l := &lane{t: t, clock: apptest.NewClock(), ctx: t.Context()}
	dir := t.TempDir()
	sim, err := ghsim.New(ghsim.Config{Clock: l.clock.Now, Dir: filepath.Join(dir, "github"), ByHand: true,
		AppKeyPEM: shortKey()})
	l.must(err)
	l.sim = sim
	// The test, including its cleanups, is kept in memory until its parent ends: the simulator must not be.
	t.Cleanup(func() {
		l.should(l.sim.Close())
		l.sim, l.parts, l.mail, l.meanwhile = nil, nil, nil, nil
	})
	_, err = sim.Start("127.0.0.1:0")
	l.must(err)
	sim.SetRateLimit(1 << 30)
	sim.DivertDeliveries(l.receive)
	for _, login := range []string{owner, member} {
		sim.CreateUser(login)
	}
	registered, err := sim.CreateApp(apptest.Slug)
	l.must(err)
	l.appID = registered.ID
	l.must(sim.SetWebhook(registered.ID, sim.URL()+"/nowhere", apptest.Secret))
	first, err := sim.CreateRepo(owner, "first", ghsim.RepoSpec{Files: map[string]string{"README": "first\n",
		workflowPath(0): "name: Everywhere\non: pull_request\njobs:\n  policy:\n    runs-on: ubuntu-latest\n    steps:\n" +
			"      - run: make policy\n"}})
	l.must(err)
	l.other = first.ID
	l.install, err = sim.Install(registered.ID, owner, "first")
	l.must(err)
	config := apptest.Configure(sim, registered, "http://127.0.0.1:1/v1", filepath.Join(dir, "sia"))
	l.parts, err = app.OpenParts(l.ctx, config, app.Options{Logger: slog.New(slog.DiscardHandler), Now: l.clock.Now,
		Transport: direct{sim.Handler(), l}})
	l.must(err)
	t.Cleanup(func() { l.should(l.parts.Store.Close()) })
	l.deliverAll()
	return l
}

// receive receives the simulator's deliveries. It holds its lock meanwhile.
func (l *lane) receive(d ghsim.Delivery) {
	if !webhook.Handled(d.Event) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mail = append(l.mail, store.Delivery{GUID: d.GUID, Event: d.Event, Action: d.Action, Installation: d.Installation,
		Repo: d.Repo, Body: d.Payload})
}

// take returns the deliveries since the last call.
func (l *lane) take() []store.Delivery {
	l.mu.Lock()
	defer l.mu.Unlock()
	mail := l.mail
	l.mail = nil
	return mail
}

// deliverAll makes the application process everything that was sent.
func (l *lane) deliverAll() {
	for _, d := range l.take() {
		d.Received = l.clock.Now()
		l.must(l.parts.Intake.Deliver(l.ctx, d))
	}
}

func (l *lane) must(err error) {
	if err != nil {
		l.t.Helper()
		l.t.Fatal(err)
	}
}

func (l *lane) should(err error) {
	if err != nil {
		l.t.Helper()
		l.t.Error(err)
	}
}

// direct sends requests to a handler without a network.
type direct struct {
	to http.Handler
	l  *lane
}

// RoundTrip implements http.RoundTripper.
func (d direct) RoundTrip(req *http.Request) (*http.Response, error) {
	if d.l.meanwhile != nil {
		d.l.meanwhile()
	}
	in := req.Clone(req.Context())
	in.RequestURI = req.URL.RequestURI()
	in.RemoteAddr = "127.0.0.1:1"
	in.Host = cmp.Or(req.Host, req.URL.Host)
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := &responseRecorder{header: http.Header{}, code: http.StatusOK}
	d.to.ServeHTTP(w, in)
	if req.Body != nil {
		if err := req.Body.Close(); err != nil {
			return nil, fmt.Errorf("close the body of a request: %w", err)
		}
	}
	return &http.Response{StatusCode: w.code, Status: fmt.Sprintf("%d %s", w.code, http.StatusText(w.code)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.header, Body: io.NopCloser(&w.body),
		ContentLength: int64(w.body.Len()), Request: req}, nil
}

// responseRecorder is an http.ResponseWriter that records the response.
type responseRecorder struct {
	header http.Header
	code   int
	wrote  bool
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *responseRecorder) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *responseRecorder) WriteHeader(code int) {
	if !a.wrote {
		a.code, a.wrote = code, true
	}
}

// Write implements http.ResponseWriter.
func (a *responseRecorder) Write(b []byte) (int, error) {
	a.wrote = true
	return a.body.Write(b)
}
