package web

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
)

// setupLine is a repository with its setup state.
type setupLine struct {
	ID    int64            `json:"repo_id"`
	Name  string           `json:"repo"`
	State store.SetupState `json:"state"`
	Tries int              `json:"failed_tries,omitempty"`
	Error string           `json:"error,omitempty"`
	// the result of proposing settings to it; empty: it was not new
	Welcome string `json:"welcome,omitempty"`
	Checks  *int   `json:"checks,omitempty"` // as in [store.Setup]
	Unasked bool   `json:"-"`                // settings can be proposed to it
}

// setupStates are the setup states in the order of the list, each with a word for people.
var setupStates = []setupTab{{State: store.SetupFailed, Word: "Failed"}, {State: store.SetupPending, Word: "Waiting"},
	{State: store.SetupDone, Word: "Set up"}, {State: store.SetupArchived, Word: "Archived"}}

// setupTab is a setup state to filter by; the zero State is all of them.
type setupTab struct {
	State store.SetupState
	Word  string
	N     int // repositories
}

// installationPage is an installation, for its administrators.
type installationPage struct {
	ID        int64                    `json:"id"`
	Account   string                   `json:"account"`
	Suspended bool                     `json:"suspended"`
	Paused    string                   `json:"paused,omitempty"`       // why everything is paused; empty: it is not
	Counts    map[store.SetupState]int `json:"counts"`                 // repositories
	Left      time.Duration            `json:"-"`                      // until all are set up, about
	Minutes   int                      `json:"minutes_left,omitempty"` // the same
	State     store.SetupState         `json:"state,omitempty"`        // of those listed; empty: any
	Page      int                      `json:"page"`                   // from 1
	More      bool                     `json:"more"`                   // there is a next page
	Repos     []setupLine              `json:"repositories"`           // of the page: failed ones first, then by name
	Tabs      []setupTab               `json:"-"`
	All       int                      `json:"-"` // repositories, in any state
	Earlier   string                   `json:"-"` // addresses of the adjacent pages; empty: none
	Later     string                   `json:"-"`
	Lifts     bool                     `json:"-"` // it is paused by its own switch, and by no other
}

// Done, Failed and Archived count repositories.
func (p installationPage) Done() int     { return p.Counts[store.SetupDone] }
func (p installationPage) Failed() int   { return p.Counts[store.SetupFailed] }
func (p installationPage) Archived() int { return p.Counts[store.SetupArchived] }

// installationsPage lists the installations that the viewer administers, by account.
type installationsPage struct {
	Installations []installationLine `json:"installations"`
}

// installationLine is an installation in a list.
type installationLine struct {
	ID        int64  `json:"id"`
	Account   string `json:"account"`
	Suspended bool   `json:"suspended"`
	Paused    bool   `json:"paused"` // everything in it is paused
}

// Badge shows whether the installation is paused or suspended.
func (l installationLine) Badge() badge {
	switch {
	case l.Suspended:
		return badMark.withWord("Suspended")
	case l.Paused:
		return badge{"wait", "pause", "Paused"}
	}
	return goodMark.withWord("At work")
}

func (s *site) installations(r *http.Request) (frame, error) {
	all, err := s.From.Installations(r.Context())
	if err != nil {
		return frame{}, err
	}
	halts, err := s.From.Halts(r.Context())
	p := installationsPage{Installations: []installationLine{}}
	for _, in := range all {
		if !viewer.From(r.Context()).Administers(in.ID) {
			continue
		}
		paused := slices.ContainsFunc(halts, func(h store.Halt) bool {
			return h.Scope == sia.InstallationHalt(in.ID) || h.Scope == sia.ServerHalt
		})
		p.Installations = append(p.Installations, installationLine{in.ID, in.Account, in.Suspended, paused})
	}
	return frame{Title: "Installations", Body: p}, err
}

// theInstallation is the installation named in an address, if the viewer administers all of it.
func (s *site) theInstallation(r *http.Request, named string) (in store.Installation, err error) {
	id, err := strconv.ParseInt(named, 10, 64)
	if err != nil || !viewer.From(r.Context()).Administers(id) {
		return in, fmt.Errorf("installation %q is not the viewer's: %w", named, store.ErrNotFound)
	}
	all, err := s.From.Installations(r.Context())
	if err != nil {
		return in, err
	}
	i := slices.IndexFunc(all, func(in store.Installation) bool { return in.ID == id })
	if i < 0 {
		return in, fmt.Errorf("installation %d: %w", id, store.ErrNotFound)
	}
	return all[i], nil
}

func (s *site) installation(r *http.Request) (frame, error) {
	in, err := s.theInstallation(r, r.PathValue("id"))
	if err != nil {
		return frame{}, err
	}
	p := installationPage{ID: in.ID, Account: in.Account, Suspended: in.Suspended,
		State: store.SetupState(r.URL.Query().Get("state"))}
	if p.Page, err = pageNumber(r); err != nil {
		return frame{}, err
	}
	setups, err := s.From.Setups(r.Context(), in.ID)
	if err != nil {
		return frame{}, err
	}
	if err := p.list(setups); err != nil {
		return frame{}, err
	}
	p.Earlier, p.Later = adjacent(r.URL.Path, url.Values{"state": r.URL.Query()["state"]}, p.Page, len(p.Repos), p.More)
	halts, err := s.From.Halts(r.Context())
	for _, h := range halts {
		switch h.Scope {
		case sia.InstallationHalt(in.ID):
			p.Lifts, p.Paused = true, h.Reason
		case sia.ServerHalt, sia.SuspensionHalt(in.ID):
			if !p.Lifts {
				p.Paused = h.Reason
			}
		}
	}
	return frame{Title: "Installation in " + in.Account, Live: p.Left > 0, Of: r.URL.Path, Body: p}, err
}

// list counts the setups of an installation, and adds those of the page.
func (p *installationPage) list(setups []store.Setup) error {
	p.Counts, p.All, p.Repos = map[store.SetupState]int{}, len(setups), []setupLine{}
	for _, v := range setups {
		p.Counts[v.State]++
	}
	p.Left = store.SetupTime(p.Counts[store.SetupPending])
	p.Minutes = int(p.Left.Minutes())
	p.Tabs = append([]setupTab{{Word: "All", N: p.All}}, setupStates...)
	listed := p.State == ""
	for i, tab := range p.Tabs[1:] {
		p.Tabs[i+1].N = p.Counts[tab.State]
		listed = listed || tab.State == p.State
	}
	if !listed {
		return badRequest("state: there is no such state of a repository.")
	}
	place := func(v store.Setup) int {
		return slices.IndexFunc(setupStates, func(t setupTab) bool { return t.State == v.State })
	}
	slices.SortStableFunc(setups, func(a, b store.Setup) int { return cmp.Compare(place(a), place(b)) })
	if p.State != "" {
		setups = slices.DeleteFunc(setups, func(v store.Setup) bool { return v.State != p.State })
	}
	rest := setups[min((p.Page-1)*perPage, len(setups)):]
	p.More = len(rest) > perPage
	for _, v := range rest[:min(len(rest), perPage)] {
		p.Repos = append(p.Repos, setupLine{v.ID, v.String(), v.State, v.Tries, v.Error, v.Welcome, v.Checks, v.Unasked()})
	}
	return nil
}

// switchInstallation pauses or resumes an installation, or does what it offers for its
// repositories.
func (s *site) switchInstallation(r *http.Request) (n note, err error) {
	in, err := s.theInstallation(r, r.PathValue("id"))
	if err != nil {
		return n, err
	}
	by := viewer.From(r.Context()).By()
	n.back = "/installations/" + strconv.FormatInt(in.ID, 10)
	switch r.PostForm.Get("do") {
	case "pause":
		n.text, err = s.Do.Halt(r.Context(), by, in.ID)
	case "resume":
		n.text, err = s.Do.Lift(r.Context(), by, in.ID)
	case "retry":
		n.text, err = s.setUpAgain(r, in.ID)
	case "propose":
		n.text, err = s.proposeSettings(r, in.ID)
	default:
		err = badRequest("There is no such button. Load the page again.")
	}
	return n, err
}

// proposeSettings has settings proposed to the repository that the form names.
func (s *site) proposeSettings(r *http.Request, installation int64) (answer string, err error) {
	setups, err := s.From.Setups(r.Context(), installation)
	if err != nil {
		return "", err
	}
	for _, v := range setups {
		if v.Unasked() && r.PostForm.Get("repo") == strconv.FormatInt(v.ID, 10) {
			return s.Do.ProposeSettings(r.Context(), viewer.From(r.Context()).By(), v.Repository)
		}
	}
	return "Nothing was done: settings are proposed to it already, or can't be.", nil
}

// setUpAgain has the repository that the form names set up again, or all that failed.
func (s *site) setUpAgain(r *http.Request, installation int64) (answer string, err error) {
	setups, err := s.From.Setups(r.Context(), installation)
	if err != nil {
		return "", err
	}
	var failed []sia.Repo
	for _, v := range setups {
		named := r.PostForm.Get("repo")
		if v.State == store.SetupFailed && (named == "" || named == strconv.FormatInt(v.ID, 10)) {
			failed = append(failed, v.Repo)
		}
	}
	if len(failed) == 0 {
		return "Nothing was done: it has not failed, or is tried again already.", nil
	}
	return s.Do.SetUpAgain(r.Context(), viewer.From(r.Context()).By(), installation, failed)
}

// settingLine is one setting in force.
type settingLine struct {
	Path    string `json:"path"`
	Value   any    `json:"value"`
	Shown   string `json:"-"`
	Changed bool   `json:"changed"` // it is not the default
	Doc     string `json:"doc"`
}

// settingsPage lists the settings in force in a repository.
type settingsPage struct {
	repoChoice
	From     string        `json:"from,omitempty"` // the file; empty: the defaults apply
	Read     bool          `json:"read"`           // the repository was checked for a file; else the defaults are assumed
	Settings []settingLine `json:"settings"`
}

// Set are the settings that the file changes, and Left those with default values.
func (p settingsPage) Set() []settingLine  { return p.filtered(true) }
func (p settingsPage) Left() []settingLine { return p.filtered(false) }

func (p settingsPage) filtered(changed bool) (some []settingLine) {
	for _, l := range p.Settings {
		if l.Changed == changed {
			some = append(some, l)
		}
	}
	return some
}

// docLink matches a link in a setting's documentation, which leads from one of its files to another.
var docLink = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// Says describes the setting.
func (l settingLine) Says() template.HTML { return renderWords(docLink.ReplaceAllString(l.Doc, "$1")) }

func (s *site) settings(r *http.Request) (frame, error) {
	c, err := s.choiceOfOne(r)
	if err != nil {
		return frame{}, err
	}
	p := settingsPage{repoChoice: c, Settings: []settingLine{}}
	if c.Repo == 0 {
		return frame{Title: "Settings", Body: p}, nil
	}
	repo, err := s.From.Repository(r.Context(), c.Repo)
	if err != nil {
		return frame{}, err
	}
	set, read, err := s.Settings.Kept(r.Context(), repo.Installation, repo.Repo)
	if err != nil {
		return frame{}, err
	}
	p.From, p.Read = set.From, read
	defaults := sia.DefaultSettings()
	for _, f := range config.Fields() {
		l := settingLine{Path: f.Path, Value: f.Value(set.Settings), Doc: f.Doc}
		l.Shown = config.Format(l.Value)
		l.Changed = l.Shown != config.Format(f.Value(defaults))
		p.Settings = append(p.Settings, l)
	}
	return frame{Title: "Settings of " + repo.String(), Body: p}, nil
}
