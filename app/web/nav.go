package web

import (
	"slices"
	"strings"
)

// place is an entry of the navigation, or a tab inside one.
type place struct {
	Name, Path string
	Tabs       []place
	machine    bool // only for the operator at the machine
	admins     bool // only for admins of an installation
}

// places are the entries of the navigation. Five are the most that people scan easily.
func places() []place {
	return []place{
		{Name: "Overview", Path: "/"},
		{Name: "Tasks", Path: "/tasks", Tabs: []place{{Name: "Tasks", Path: "/tasks"}, {Name: "Costs", Path: "/costs"}}},
		{Name: "Questions", Path: "/escalations"},
		{Name: "Learning", Path: "/lessons", Tabs: []place{{Name: "Lessons", Path: "/lessons"},
			{Name: "Techniques", Path: "/techniques"}, {Name: "Coders", Path: "/coders"},
			{Name: "Failures", Path: "/patterns"}, {Name: "Policies", Path: "/policies"}}},
		{Name: "Settings", Path: "/settings", Tabs: []place{{Name: "Repositories", Path: "/settings"},
			{Name: "Installations", Path: "/installations", admins: true},
			{Name: "Set-up", Path: "/setup", machine: true}}},
	}
}

// holds reports whether a page belongs to a place.
func (p place) holds(at string) bool {
	for _, tab := range p.Tabs {
		if tab.holds(at) {
			return true
		}
	}
	return at == p.Path || p.Path != "/" && strings.HasPrefix(at, p.Path+"/")
}

// link is a place in a list, as a page shows it.
type link struct {
	Name, Path string
	Current    string // value of aria-current; empty: another page is shown
}

// Places is the navigation.
func (f frame) Places() []link { return f.links(places()) }

// Tabs are the pages in the same entry of the navigation. A page about a single item has none.
func (f frame) Tabs() []link {
	for _, p := range places() {
		tabs := f.links(p.Tabs)
		if len(tabs) > 1 && slices.ContainsFunc(tabs, func(l link) bool { return l.Current == "page" }) {
			return tabs
		}
	}
	return nil
}

func (f frame) path() string {
	at, _, _ := strings.Cut(f.Here, "?")
	return at
}

func (f frame) links(all []place) (out []link) {
	for _, p := range all {
		if p.machine && !f.Viewer.Operator || p.admins && !f.Rules() {
			continue
		}
		l := link{Name: p.Name, Path: p.Path}
		switch at := f.path(); {
		case at == p.Path:
			l.Current = "page"
		case p.holds(at):
			l.Current = "true"
		}
		out = append(out, l)
	}
	return out
}
