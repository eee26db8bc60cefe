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

// undo takes one thing back.
type undo struct {
	what         string
	method, path string // beneath the repository
	body         any
	gone         []int // statuses that say that it is gone already
}

// Bounds of taking back: how long it may take altogether, and how old a run has to be to count as dead.
const (
	cleanFor = 3 * time.Minute
	deadFor  = time.Hour
)

// clean takes everything back, newest first, then looks whether something is left. It heeds no cancellation: that is
// what it is for.
func (b *Bench) clean(ctx context.Context) (left []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanFor)
	defer cancel()
	takeBack := func(u undo) {
		if err := b.takeBack(ctx, u); err != nil {
			left = append(left, fmt.Sprintf("%s: %v", u.what, err))
		}
	}
	for _, u := range slices.Backward(b.undos) {
		takeBack(u)
	}
	b.undos = nil
	for _, u := range b.leftovers(ctx, func(name string) bool { return strings.HasPrefix(name, b.name()) }) {
		takeBack(u)
	}
	return left
}

func (b *Bench) takeBack(ctx context.Context, u undo) error {
	if err := b.pace(ctx); err != nil {
		return err
	}
	a, err := b.exchange(ctx, b.network, u.method, b.beneath(u.path), nil, u.body)
	if err != nil {
		return err
	}
	if a.Status < 300 || slices.Contains(u.gone, a.Status) {
		return nil
	}
	return fmt.Errorf("%s", a)
}

// sweepOld takes back what a run left that ended before it could.
func (b *Bench) sweepOld(ctx context.Context) {
	for _, u := range b.leftovers(ctx, func(name string) bool {
		rest, is := strings.CutPrefix(name, mark+"/")
		began, err := time.Parse(nameTime, rest[:min(len(nameTime), len(rest))])
		return is && err == nil && b.options.Now().Sub(began) > deadFor
	}) {
		_ = b.takeBack(ctx, u) // the next run tries again
	}
}

// leftovers are what there is with names that fit: rulesets before the branches that they keep.
func (b *Bench) leftovers(ctx context.Context, fits func(name string) bool) (all []undo) {
	rulesets := b.list(ctx, "/rulesets?per_page=100")
	issues := b.list(ctx, "/issues?state=open&per_page=100&sort=created&direction=desc")
	labels := b.list(ctx, "/labels?per_page=100")
	for i := range rulesets.List("") {
		if name := rulesets.Str(fmt.Sprintf("%d.name", i)); fits(name) {
			all = append(all, undoRuleset(name, rulesets.Int(fmt.Sprintf("%d.id", i))))
		}
	}
	for i := range issues.List("") {
		if title := issues.Str(fmt.Sprintf("%d.title", i)); fits(title) {
			all = append(all, undoIssue(title, issues.Int(fmt.Sprintf("%d.number", i))))
		}
	}
	for _, name := range labels.Each("", "name") {
		if fits(name) {
			all = append(all, undoLabel(name))
		}
	}
	for _, beneath := range []string{"heads/", ""} {
		for _, ref := range b.list(ctx, "/git/matching-refs/"+beneath+mark+"/").Each("", "ref") {
			if fits(strings.TrimPrefix(strings.TrimPrefix(ref, "refs/"), "heads/")) {
				all = append(all, undoRef(ref))
			}
		}
	}
	return all
}

func (b *Bench) list(ctx context.Context, path string) Answer {
	a, err := b.exchange(ctx, b.network, http.MethodGet, b.beneath(path), nil, nil)
	if err != nil {
		return Answer{} // nothing is known to be left
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
