package web

import (
	"net/http"

	"github.com/sia-bot/sia/app/look"
)

// A route is the address of a page, or of a form's action.
type route struct {
	pattern string // a pattern of [http.ServeMux]
	page    string // the template's name; empty: no page
	build   func(*http.Request) (frame, error)
	act     func(*http.Request) (note, error) // for POST
	serve   http.HandlerFunc
}

// routes lists every address. Nothing else is served, so a test over it covers all addresses.
func (s *site) routes() []route {
	return []route{
		{pattern: "GET /style.css", serve: look.Style},
		{pattern: "GET /live.js", serve: asset("live.js")},
		{pattern: "GET /live", serve: s.live.serve},

		{pattern: "GET /{$}", page: "overview", build: s.overview},
		{pattern: "GET /tasks", page: "tasks", build: s.tasks},
		{pattern: "GET /tasks/{id}", page: "task", build: s.task},
		{pattern: "GET /tasks/{id}/attempts/{n}", page: "attempt", build: s.attempt},
		{pattern: "GET /costs", page: "costs", build: s.costs},
		{pattern: "GET /escalations", page: "escalations", build: s.escalations},
		{pattern: "GET /techniques", page: "techniques", build: s.techniques},
		{pattern: "GET /coders", page: "coders", build: s.coders},
		{pattern: "GET /patterns", page: "patterns", build: s.patterns},
		{pattern: "GET /policies", page: "policies", build: s.policies},
		{pattern: "GET /policies/{id}", page: "change", build: s.change},
		{pattern: "GET /lessons", page: "lessons", build: s.lessons},
		{pattern: "GET /lessons/{repo}/{id}", page: "lesson", build: s.lesson},
		{pattern: "GET /settings", page: "settings", build: s.settings},
		{pattern: "GET /installations", page: "installations", build: s.installations},
		{pattern: "GET /installations/{id}", page: "installation", build: s.installation},

		{pattern: "GET /{rest...}", build: s.notFound},

		{pattern: "POST /tasks/{id}", act: s.sayToTask},
		{pattern: "POST /lessons/{repo}/{id}", act: s.changeLesson},
		{pattern: "POST /installations/{id}", act: s.switchInstallation},
	}
}
