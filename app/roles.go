package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/store"
)

// Role is a share of a server's work.
type Role string

// The roles.
const (
	RoleIntake Role = "intake" // writes webhooks down, and nothing more
	RoleWork   Role = "work"   // works on what was written down: deliveries, effects, what is periodic
	RoleWeb    Role = "web"    // shows the pages, and hears what people press there
)

// Roles are those that a server has; empty: all of them.
type Roles []Role

// ParseRoles reads the names of roles; "all" is each of them.
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

// Has reports whether a role is among them.
func (r Roles) Has(role Role) bool { return len(r) == 0 || slices.Contains(r, role) }

// Names are their names, in the order in which work goes through them.
func (r Roles) Names() (names []string) {
	for _, role := range []Role{RoleIntake, RoleWork, RoleWeb} {
		if r.Has(role) {
			names = append(names, string(role))
		}
	}
	return names
}

// String is what was asked for: names with commas, or all.
func (r Roles) String() string {
	if len(r) == 0 {
		return "all"
	}
	return strings.Join(r.Names(), ",")
}

// CheckShared refuses roles where no other server can have the rest.
func (r Roles) CheckShared(db string) error {
	if len(r) == 0 || store.IsPostgres(db) {
		return nil
	}
	return errors.New("--role " + r.String() + ": servers with roles share a database, and one process alone works on a " +
		"SQLite file; set --db or SIA_DB to a PostgreSQL database, or leave --role out")
}

// onGitHub reports whether they ask GitHub as the app: what is only written down needs no key.
func (r Roles) onGitHub() bool { return r.Has(RoleWork) || r.Has(RoleWeb) }
