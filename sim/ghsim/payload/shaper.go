// Package payload shapes what there is on a simulated GitHub as GitHub's JSON, as
// webhooks carry it and the REST API answers it. Names that end in Full have what
// only the REST API answers; those that end in Lite are what other objects carry.
//
// The shapes follow https://docs.github.com/en/rest (API version 2022-11-28) and
// https://docs.github.com/en/webhooks; package conformance checks them.
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

// Shaper shapes things of one hub; the simulator's lock is held.
type Shaper struct {
	hub *model.Hub
	git *git.Store
	log *slog.Logger
}

// New is a shaper of what a hub has, with the repositories' content from a store.
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
