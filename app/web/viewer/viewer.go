// Package viewer describes who views SIA's pages, with their rights.
//
// GitHub decides what a person may see, so a [Viewer] holds GitHub's answer and no rights of SIA's own. A request's
// context carries it from app/web/signin, which makes it, to app/web, which checks it before it shows or does anything.
// The package may import sia.
package viewer

import (
	"context"

	"github.com/sia-bot/sia/sia"
)

// Role is a person's role in a repository, as reported by GitHub. Each includes those before it.
type Role int

// The roles.
const (
	None        Role = iota
	Reads            // sees the repository's tasks
	Writes           // may give SIA commands
	Administers      // may change the repository's policies and settings
)

// Installation is an installation in which the viewer can see something.
type Installation struct {
	ID      int64
	Account string
	Whole   bool // the viewer administers every repository in it, so may use its switches
}

// Viewer is a person or the operator. The zero Viewer sees nothing.
type Viewer struct {
	Actor         sia.Actor
	Operator      bool // everybody at SIA's own machine: sees and does everything
	Repos         map[int64]Role
	Installations []Installation
	Token         string // returned by forms, so that other sites can't send them
}

// By is the actor of the viewer's actions.
func (v Viewer) By() sia.Actor {
	if v.Operator {
		return sia.Actor{Operator: true}
	}
	return v.Actor
}

// May reports whether the viewer has a role, or a greater one, in a repository.
func (v Viewer) May(repo int64, role Role) bool { return v.Operator || v.Repos[repo] >= role }

// Administers reports whether the viewer administers all of an installation.
func (v Viewer) Administers(installation int64) bool {
	for _, in := range v.Installations {
		if in.ID == installation && in.Whole {
			return true
		}
	}
	return v.Operator
}

type key struct{}

// With adds a viewer to a request's context.
func With(ctx context.Context, v Viewer) context.Context { return context.WithValue(ctx, key{}, v) }

// From returns the viewer. Without one, it is the zero Viewer.
func From(ctx context.Context) Viewer {
	v, _ := ctx.Value(key{}).(Viewer)
	return v
}
