package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
)

// How long GitHub's answers are cached, the timeout of a request, and the seconds after which the page reloads itself
// while something is missing.
const (
	lookEvery  = 5 * time.Second
	lookFor    = 10 * time.Second
	renewAfter = 10
)

// Forge is the app on GitHub. [github.App] implements it.
type Forge interface {
	Self(ctx context.Context) (github.Self, error)
	Hook(ctx context.Context) (github.Hook, error)
	Installations(ctx context.Context) ([]github.Installation, error)
	LatestDeliveries(ctx context.Context) ([]github.DeliveryAttempt, error)
	Redeliver(ctx context.Context, id int64) error
}

// Inbox reports received deliveries. [store.Store] implements it.
type Inbox interface {
	LatestDelivery(ctx context.Context) (store.Delivery, error)
	Installations(ctx context.Context) ([]store.Installation, error)
}

// Progress is /setup of a server that has its app: the remaining steps to the first issue. It is safe for concurrent
// use.
type Progress struct {
	forge Forge
	inbox Inbox
	pages string // sign-in address; "" if there is none
	since time.Time
	site  site
	log   *slog.Logger
	now   func() time.Time

	mu   sync.Mutex
	seen progressPage
	at   time.Time
}

// NewProgress returns the page. pages is the sign-in address, "" for none; since is when this server began to accept
// webhooks.
func NewProgress(f Forge, in Inbox, pages string, since time.Time, log *slog.Logger, now func() time.Time) *Progress {
	return &Progress{forge: f, inbox: in, pages: pages, since: since, site: newSite("progress"), log: log, now: now}
}

// progressPage is the content of the page. Words are sentences.
type progressPage struct {
	Name, Page string // of the app
	Problem    string // why GitHub's data is missing
	Installed  []installedLine
	Hook       string // the webhook address registered at GitHub
	Arrives    bool   // webhooks arrive
	Webhooks   string // state of webhooks
	Fix        string // what to do about it
	Again      int64  // the delivery that can be redelivered; 0: none
	Pages      string
}

type installedLine struct {
	Account   string
	Suspended bool
	Heard     bool // SIA received the event
}

// done reports whether nothing is missing.
func (p progressPage) done() bool { return p.Problem == "" && p.Arrives && len(p.Installed) > 0 }

// Handler serves the page, and the button for redelivery.
func (p *Progress) Handler() http.Handler {
	mux := http.NewServeMux()
	shared(mux)
	mux.HandleFunc("GET "+Path, p.show)
	mux.HandleFunc("GET "+Path+"/{rest...}", func(w http.ResponseWriter, r *http.Request) { redirect(w, r, Path) })
	mux.HandleFunc("GET "+Path+"/done", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("code") { // after a registration: the one of this server's app is complete
			redirect(w, r, otherPath)
			return
		}
		redirect(w, r, Path)
	})
	mux.HandleFunc("POST "+Path+"/redeliver", p.redeliver)
	return mux
}

func (p *Progress) show(w http.ResponseWriter, r *http.Request) {
	seen := p.look(r.Context())
	f := frame{Title: "Set-up", Token: viewer.From(r.Context()).Token, Error: otherApp(r, seen.Name), Body: seen}
	if !seen.done() {
		f.Renew = renewAfter
	}
	p.site.show(w, http.StatusOK, "progress", "", f)
}

// look returns the state, cached for some seconds: viewers may reload the page often.
func (p *Progress) look(ctx context.Context) progressPage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.at.IsZero() && p.now().Sub(p.at) < lookEvery {
		return p.seen
	}
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	seen, err := p.gather(ctx)
	if err != nil {
		p.log.WarnContext(ctx, "the state of set-up is not known", "error", err)
		seen.Problem = err.Error()
		return seen
	}
	p.seen, p.at = seen, p.now()
	return seen
}

// gather asks GitHub and the store.
func (p *Progress) gather(ctx context.Context) (progressPage, error) {
	out := progressPage{Pages: p.pages}
	self, err := p.forge.Self(ctx)
	if err != nil {
		return out, err
	}
	out.Name, out.Page = self.Name, self.URL
	hook, err := p.forge.Hook(ctx)
	if err != nil {
		return out, err
	}
	out.Hook = hook.URL
	installed, err := p.forge.Installations(ctx)
	if err != nil {
		return out, err
	}
	known, err := p.inbox.Installations(ctx)
	if err != nil {
		return out, err
	}
	heard := map[int64]bool{}
	for _, in := range known {
		heard[in.ID] = true
	}
	for _, in := range installed {
		out.Installed = append(out.Installed, installedLine{in.Account, in.Suspended, heard[in.ID]})
	}
	return out, p.webhooks(ctx, &out)
}

// webhooks reports whether deliveries arrive, from GitHub's records and the store.
func (p *Progress) webhooks(ctx context.Context, out *progressPage) error {
	tried, err := p.forge.LatestDeliveries(ctx)
	if err != nil {
		return err
	}
	last, err := p.inbox.LatestDelivery(ctx)
	received := err == nil
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	switch {
	case out.Hook == "":
		out.Webhooks, out.Fix = "The app has no webhook.", "Under Webhook in the app's settings on GitHub, make it active "+
			"and enter the address of this server, ending in "+webhookPath+", and the webhook secret."
	case len(tried) > 0 && !tried[0].OK() && tried[0].At.Before(p.since):
		out.Webhooks = fmt.Sprintf("GitHub's %s came before this server was started, as it does when an app is new. "+
			"Press “Have it sent again” to test the address and the secret now.", tried[0].Event)
		out.Again = tried[0].ID
	case len(tried) > 0 && !tried[0].OK():
		out.Webhooks = fmt.Sprintf("GitHub's last delivery, %s at %s, failed: %s.", tried[0].Event,
			tried[0].At.UTC().Format("15:04:05 UTC"), DeliveryResult(tried[0]))
		out.Fix, out.Again = "To mend it: "+DeliveryFix(tried[0])+". Then have it sent again.", tried[0].ID
	case len(tried) > 0 && !received:
		out.Webhooks = "GitHub says that a delivery was answered, and none arrived here."
		out.Fix = "Something else answers at " + out.Hook + ": check what stands in front of SIA, and where it sends " +
			webhookPath + "."
	case received:
		out.Arrives = true
		out.Webhooks = fmt.Sprintf("The last one that arrived: %s, at %s.",
			last.Event, last.Received.UTC().Format("2 Jan 15:04:05 UTC"))
	default:
		out.Webhooks = "GitHub has sent nothing yet. It sends something when the app is installed."
	}
	return nil
}

// redeliver is POST /setup/redeliver: it requests redelivery of the last delivery, if that failed.
func (p *Progress) redeliver(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), lookFor)
	defer cancel()
	tried, err := p.forge.LatestDeliveries(ctx)
	if err == nil && len(tried) > 0 && !tried[0].OK() {
		err = p.forge.Redeliver(ctx, tried[0].ID)
	}
	if err != nil {
		p.log.WarnContext(ctx, "a delivery could not be asked for again", "error", err)
		http.Error(w, "GitHub did not take that: "+err.Error(), http.StatusBadGateway)
		return
	}
	p.mu.Lock()
	p.at = time.Time{}
	p.mu.Unlock()
	redirect(w, r, Path)
}
