// Package remote is the git over HTTP of a simulated GitHub: it checks permissions to fetch and push, and completes a
// push's consequences before it answers.
package remote

import (
	"bytes"
	"cmp"
	"log/slog"
	"net/http"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/access"
	"github.com/sia-bot/sia/sim/ghsim/fault"
	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/world"
)

// Handler answers git's requests.
type Handler struct {
	world  *world.World
	git    *git.Store
	issuer *access.TokenIssuer
	faults *fault.Rules
	log    *slog.Logger
}

// New is the remote of a world's repositories.
func New(w *world.World, store *git.Store, issuer *access.TokenIssuer, faults *fault.Rules, log *slog.Logger) *Handler {
	return &Handler{world: w, git: store, issuer: issuer, faults: faults, log: log}
}

// Serve answers one request.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, req git.Request) {
	lost := h.faults.For(r)
	if lost != nil && !lost.After {
		lost.Write(w)
		return
	}
	visit, code := h.admit(r, req)
	if code != 0 {
		if code == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		}
		http.Error(w, cmp.Or(visit.refusal, http.StatusText(code)), code)
		return
	}
	if now := visit.name; !strings.EqualFold(now, req.Repo) {
		http.Redirect(w, r, strings.Replace(r.URL.RequestURI(), req.Repo, now, 1), http.StatusMovedPermanently)
		return
	}
	if !req.Push {
		h.git.Serve(w, r, req, visit.access)
		return
	}
	select { // one receive-pack at a time, so that moved refs are known to be its result
	case visit.repo.Receiving <- struct{}{}:
		defer func() { <-visit.repo.Receiving }()
	case <-r.Context().Done():
		return
	}
	kept := &keptAnswer{header: http.Header{}, code: http.StatusOK}
	h.git.Serve(kept, r, req, visit.access)
	h.received(visit)
	if lost != nil {
		lost.Write(w) // the push happened, and its answer is lost
		return
	}
	kept.sendTo(w)
}

// visit is an admitted request: its repository, its sender, and their permissions.
type visit struct {
	repo   *model.Repository
	name   string // the repository's, which may differ from the requested one
	actor  model.Actor
	access git.Access

	refusal string // message of the status that refuses it
}

// received carries out a push's consequences.
func (h *Handler) received(v visit) {
	h.world.Lock()
	defer h.world.Unlock()
	if err := h.world.RefsMoved(v.repo, v.actor); err != nil {
		h.log.Error("after a push", "repo", v.repo.FullName(), "error", err)
	}
}

// admit returns a request's permissions, or the HTTP status that refuses it.
func (h *Handler) admit(r *http.Request, req git.Request) (visit, int) {
	h.world.Lock()
	defer h.world.Unlock()
	repo := h.world.Repository(req.Repo)
	raw := access.Credentials(r)
	if raw == "" {
		if repo == nil || repo.Private || req.Write {
			return visit{}, http.StatusUnauthorized
		}
		return visit{repo: repo, name: repo.FullName(), actor: model.As(repo.Owner),
			access: git.Access{Dir: repo.Dir, User: repo.Owner.Login}}, 0
	}
	t, err := h.issuer.Token(raw)
	if err != nil {
		return visit{}, http.StatusUnauthorized
	}
	level := "read"
	if req.Write {
		level = "write"
	}
	switch {
	case repo == nil || !t.Has(repo) && (repo.Private || req.Write) || h.issuer.IsRefused(t, repo):
		return visit{}, http.StatusNotFound
	case !t.May("contents", level):
		return visit{}, http.StatusForbidden
	case req.Write && repo.Archived: // https://github.com/nextcloud/docker-ci/pull/859
		return visit{refusal: "This repository was archived so it is read-only."}, http.StatusForbidden
	}
	bot := t.Inst.App.Bot
	return visit{repo: repo, name: repo.FullName(), actor: model.Actor{User: bot, App: t.Inst.App, Inst: t.Inst},
		access: git.Access{Dir: repo.Dir, User: bot.Login, Protected: repo.Guarded(),
			NoForce: repo.OnlyForward(), Queued: repo.Queued(), NoWorkflows: !t.May("workflows", "write"),
			FileSize: repo.Pushes.FileSize, Secret: repo.Pushes.Secret}}, 0
}

// keptAnswer buffers the answer to a push until its consequences are complete.
type keptAnswer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

// Header is the header of the answer.
func (k *keptAnswer) Header() http.Header { return k.header }

// WriteHeader buffers the status.
func (k *keptAnswer) WriteHeader(code int) { k.code = code }

// Write buffers a part of the body.
func (k *keptAnswer) Write(b []byte) (int, error) { return k.body.Write(b) }

func (k *keptAnswer) sendTo(w http.ResponseWriter) {
	for name, values := range k.header {
		w.Header()[name] = values
	}
	w.WriteHeader(k.code)
	w.Write(k.body.Bytes())
}
