package probe

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// undo removes one object.
type undo struct {
	what         string
	method, path string // below the repository
	body         any
	gone         []int // statuses for an object that no longer exists
}

// The time limit for cleaning up, and the age from which a run counts as dead.
const (
	cleanTimeout = 3 * time.Minute
	staleAfter   = time.Hour
)

// clean removes all created objects, newest first, and then lists what remains. It ignores cancellation, because it
// must run after one.
func (b *Bench) clean(ctx context.Context) (left []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	remove := func(u undo) {
		if err := b.undo(ctx, u); err != nil {
			left = append(left, fmt.Sprintf("%s: %v", u.what, err))
		}
	}
	for _, u := range slices.Backward(b.undos) {
		remove(u)
	}
	b.undos = nil
	for _, u := range b.leftovers(ctx, func(name string) bool { return strings.HasPrefix(name, b.name()) }) {
		remove(u)
	}
	return left
}

func (b *Bench) undo(ctx context.Context, u undo) error {
	if err := b.pace(ctx); err != nil {
		return err
	}
	a, err := b.exchange(ctx, b.network, u.method, b.repoURL(u.path), nil, u.body)
	if err != nil {
		return err
	}
	if a.Status < 300 || slices.Contains(u.gone, a.Status) {
		return nil
	}
	return fmt.Errorf("%s", a)
}

// removeStale removes the objects of a run that ended without cleaning up.
func (b *Bench) removeStale(ctx context.Context) {
	for _, u := range b.leftovers(ctx, func(name string) bool {
		rest, is := strings.CutPrefix(name, mark+"/")
		began, err := time.Parse(nameTime, rest[:min(len(nameTime), len(rest))])
		return is && err == nil && b.options.Now().Sub(began) > staleAfter
	}) {
		_ = b.undo(ctx, u) // the next run tries again
	}
}

// leftovers lists the objects with matching names: rulesets first, because they protect branches.
func (b *Bench) leftovers(ctx context.Context, matches func(name string) bool) (all []undo) {
	rulesets := b.list(ctx, "/rulesets?per_page=100")
	issues := b.list(ctx, "/issues?state=open&per_page=100&sort=created&direction=desc")
	labels := b.list(ctx, "/labels?per_page=100")
	for i := range rulesets.List("") {
		if name := rulesets.Str(fmt.Sprintf("%d.name", i)); matches(name) {
			all = append(all, undoRuleset(name, rulesets.Int(fmt.Sprintf("%d.id", i))))
		}
	}
	for i := range issues.List("") {
		if title := issues.Str(fmt.Sprintf("%d.title", i)); matches(title) {
			all = append(all, undoIssue(title, issues.Int(fmt.Sprintf("%d.number", i))))
		}
	}
	for _, name := range labels.Each("", "name") {
		if matches(name) {
			all = append(all, undoLabel(name))
		}
	}
	for _, prefix := range []string{"heads/", ""} {
		for _, ref := range b.list(ctx, "/git/matching-refs/"+prefix+mark+"/").Each("", "ref") {
			if matches(strings.TrimPrefix(strings.TrimPrefix(ref, "refs/"), "heads/")) {
				all = append(all, undoRef(ref))
			}
		}
	}
	return all
}

func (b *Bench) list(ctx context.Context, path string) Answer {
	a, err := b.exchange(ctx, b.network, http.MethodGet, b.repoURL(path), nil, nil)
	if err != nil {
		return Answer{} // nothing known to remain
	}
	return a
}

func undoRef(ref string) undo {
	return undo{what: ref, method: http.MethodDelete, path: "/git/" + ref, gone: []int{404, 422}}
}

func undoIssue(title string, number int64) undo {
	return undo{what: fmt.Sprintf("#%d %s", number, title), method: http.MethodPatch,
		path: fmt.Sprintf("/issues/%d", number), body: map[string]any{"state": "closed", "state_reason": "not_planned"},
		gone: []int{404, 410}}
}

func undoLabel(name string) undo {
	return undo{what: "label " + name, method: http.MethodDelete, path: "/labels/" + url.PathEscape(name),
		gone: []int{404}}
}

func undoRuleset(name string, id int64) undo {
	return undo{what: "ruleset " + name, method: http.MethodDelete, path: fmt.Sprintf("/rulesets/%d", id),
		gone: []int{404}}
}
