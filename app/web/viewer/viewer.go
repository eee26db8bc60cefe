// Package viewer says who looks at SIA's pages, and what of it is theirs to see and to do.
//
// What a person may see is GitHub's to say, so a [Viewer] holds GitHub's answer and nothing of
// ours. It travels in a request's context, from app/web/signin, which makes it, to app/web, which
// asks it before it shows or does anything. The package may import sia.
package viewer

import (
	"context"

	"github.com/sia-bot/sia/sia"
)

// Role is what a person may do in a repository, as GitHub says. Each includes those before it.
type Role int

// The roles.
const (
	None        Role = iota
	Reads            // sees the repository's tasks
	Writes           // has SIA do what a command in a comment would
	Administers      // changes what is in force for the repository
)

// Installation is an installation that the viewer can see something of.
type Installation struct {
	ID      int64
	Account string
	Whole   bool // they administer every repository of it, so its switches are theirs
}

// Viewer is who looks. The zero Viewer sees nothing.
type Viewer struct {
	Actor         sia.Actor
	Operator      bool // whoever sits at the machine that SIA runs on: sees and does everything
	Repos         map[int64]Role
	Installations []Installation
	Token         string // that forms carry back, so that no other site can send them
}

// By is who does what the viewer does.
func (v Viewer) By() sia.Actor {
	if v.Operator {
		return sia.Actor{Operator: true}
	}
	return v.Actor
}

// May reports whether the viewer has a role, or a greater one, in a repository.
func (v Viewer) May(repo int64, role Role) bool { return v.Operator || v.Repos[repo] >= role }

// Rules reports whether the viewer administers all of an installation.
func (v Viewer) Rules(installation int64) bool {
	for _, in := range v.Installations {
		if in.ID == installation && in.Whole {
			return true
		}
	}
	return v.Operator
}

type key struct{}

// With gives a request's context its viewer.
func With(ctx context.Context, v Viewer) context.Context { return context.WithValue(ctx, key{}, v) }

// From is who looks. A request that nobody put a viewer on is looked at by nobody.
func From(ctx context.Context) Viewer {
	v, _ := ctx.Value(key{}).(Viewer)
	return v
}
