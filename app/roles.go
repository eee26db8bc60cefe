package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/store"
)

// Role is a part of a server's work.
type Role string

// Roles of servers.
const (
	RoleIntake Role = "intake" // only stores webhooks
	RoleWork   Role = "work"   // processes what was stored: deliveries, effects, periodic work
	RoleWeb    Role = "web"    // serves the pages and their forms
)

// Roles are the roles of a server; empty: all.
type Roles []Role

// ParseRoles parses names of roles; "all" means every role.
func ParseRoles(names []string) (Roles, error) {
	all := Roles{RoleIntake, RoleWork, RoleWeb}
	var out Roles
	for _, name := range names {
		switch role := Role(strings.TrimSpace(name)); {
		case role == "all":
			return nil, nil
		case !slices.Contains(all, role):
			return nil, fmt.Errorf("there is no role %q; give intake, work, web or all, or several with commas between them",
				name)
		case !slices.Contains(out, role):
			out = append(out, role)
		}
	}
	if len(out) == len(all) {
		return nil, nil
	}
	slices.SortFunc(out, func(a, b Role) int { return slices.Index(all, a) - slices.Index(all, b) })
	return out, nil
}

// Has reports whether r includes a role.
func (r Roles) Has(role Role) bool { return len(r) == 0 || slices.Contains(r, role) }

// Names returns the names of the roles, in the order in which work passes through them.
func (r Roles) Names() (names []string) {
	for _, role := range []Role{RoleIntake, RoleWork, RoleWeb} {
		if r.Has(role) {
			names = append(names, string(role))
		}
	}
	return names
}

// String returns the names, separated by commas, or "all".
func (r Roles) String() string {
	if len(r) == 0 {
		return "all"
	}
	return strings.Join(r.Names(), ",")
}

// CheckShared returns an error if no other server can have the remaining roles.
func (r Roles) CheckShared(db string) error {
	if len(r) == 0 || store.IsPostgres(db) {
		return nil
	}
	return errors.New("--role " + r.String() + ": servers with roles share a database, and one process alone works on a " +
		"SQLite file; set --db or SIA_DB to a PostgreSQL database, or leave --role out")
}

// usesGitHub reports whether the roles need access to GitHub as the app. Storing deliveries needs no key.
func (r Roles) usesGitHub() bool { return r.Has(RoleWork) || r.Has(RoleWeb) }
