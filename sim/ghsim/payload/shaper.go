// Package payload formats objects of a simulated GitHub as GitHub's JSON, in webhooks and in the REST API. Names that
// end in Full have fields that only the REST API returns; those that end in Lite are the short forms in other objects.
//
// The formats follow https://docs.github.com/en/rest (API version 2022-11-28) and https://docs.github.com/en/webhooks;
// package conformance checks them.
package payload

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// Object is one JSON object. encoding/json sorts its keys, so equal state gives
// equal bytes and a stable ETag.
type Object = map[string]any

// Shaper formats objects of one hub; the simulator's lock is held.
type Shaper struct {
	hub *model.Hub
	git *git.Store
	log *slog.Logger
}

// New is a shaper for a hub, with the repositories' content from a store.
func New(hub *model.Hub, store *git.Store, log *slog.Logger) *Shaper {
	return &Shaper{hub: hub, git: store, log: log}
}

// API is a URL of the REST API.
func (s *Shaper) API(format string, args ...any) string {
	return s.hub.URL() + "/api/v3" + fmt.Sprintf(format, args...)
}

// HTML is a URL of a page.
func (s *Shaper) HTML(format string, args ...any) string {
	return s.hub.URL() + fmt.Sprintf(format, args...)
}

// NodeID is an opaque GraphQL id with GitHub's kind of prefix.
func NodeID(prefix string, id int64) string {
	return prefix + "_" + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s%d", prefix, id))
}

// CommitNodeID is the GraphQL id of a commit.
func CommitNodeID(r *model.Repository, sha string) string { return NodeID("C", r.ID) + sha }

// Stamp is a time as GitHub prints it, or null.
func Stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// OrNull is s, or null when it is empty.
func OrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func hostOf(url string) string {
	_, host, _ := strings.Cut(url, "://")
	return host
}
