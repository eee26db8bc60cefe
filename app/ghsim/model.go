package ghsim

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
)

// object is one JSON object of an answer or payload. encoding/json sorts its
// keys, so equal state gives equal bytes and a stable ETag.
type object = map[string]any

type user struct {
	id    int64
	login string
	kind  string // User, Bot or Organization
	made  time.Time
}

type repository struct {
	id            int64
	owner         *user
	name          string
	dir           string
	private       bool
	defaultBranch string
	made, pushed  time.Time
	lastNumber    int
	lastRun       int
	refs          map[string]string // full ref name → SHA, as last announced
	perms         map[string]string // lower-case login → role
	labels        []*label
	issues        []*issue // pull requests included, by number
	suites        []*suite
	checks        []*checkRun
	statuses      []*status
	runs          []*workflowRun
	workflows     map[string]int64    // path → id
	protection    map[string][]string // branch → required contexts (classic protection)
	rules         map[string][]string // branch → required contexts (ruleset)
	ruleset       int64
	push          chan struct{} // capacity 1: one receive-pack at a time
}

func (r *repository) fullName() string { return r.owner.login + "/" + r.name }

func (r *repository) issue(n int) *issue {
	for _, i := range r.issues {
		if i.number == n {
			return i
		}
	}
	return nil
}

func (r *repository) label(name string) *label {
	for _, l := range r.labels {
		if strings.EqualFold(l.name, name) {
			return l
		}
	}
	return nil
}

func (r *repository) head(branch string) string { return r.refs["refs/heads/"+branch] }

// role is the role of a user: none, read, triage, write, maintain or admin.
func (r *repository) role(login string) string {
	if strings.EqualFold(login, r.owner.login) {
		return "admin"
	}
	if p := r.perms[strings.ToLower(login)]; p != "" {
		return p
	}
	if !r.private {
		return "read"
	}
	return "none"
}

var roles = []string{"none", "read", "triage", "write", "maintain", "admin"}

// atLeast reports whether role have includes role want.
func atLeast(have, want string) bool { return slices.Index(roles, have) >= slices.Index(roles, want) }

type label struct {
	id                       int64
	name, color, description string
}

type issue struct {
	id        int64
	number    int
	title     string
	body      string
	by        *user
	app       *app // set when an app wrote it
	labels    []*label
	assignees []*user
	state     string // open or closed
	reason    string
	made      time.Time
	updated   time.Time
	closed    time.Time
	closedBy  *user
	comments  []*comment
	reactions []*reaction
	pull      *pull // nil for a plain issue
}

type comment struct {
	id            int64
	issue         *issue
	by            *user
	app           *app
	body          string
	made, updated time.Time
	edits         int
	reactions     []*reaction
}

type reaction struct {
	id      int64
	by      *user
	content string
	made    time.Time
}

type pull struct {
	id               int64
	head, base       string // branch names; both in this repository
	headSHA, baseSHA string
	draft            bool
	mergedAt         time.Time
	mergedBy         *user
	mergeSHA         string
	reviews          []*review
	reviewers        []*user
	threads          []*reviewComment
}

type review struct {
	id          int64
	by          *user
	state, body string // state: approved, changes_requested or commented
	sha         string
	at          time.Time
}

type suite struct {
	id                 int64
	app                *app
	branch, sha        string
	before             string
	status, conclusion string
	made, updated      time.Time
}

type checkRun struct {
	id                   int64
	suite                *suite
	name, sha            string
	status, conclusion   string
	externalID           string
	detailsURL           string
	started, completed   time.Time
	title, summary, text *string
	annotations          []annotation
	actions              []object
	job                  *job // set for check runs of the check runner
}

type annotation struct {
	Path        string  `json:"path"`
	StartLine   int     `json:"start_line"`
	EndLine     int     `json:"end_line"`
	StartColumn *int    `json:"start_column"`
	EndColumn   *int    `json:"end_column"`
	Level       string  `json:"annotation_level"`
	Message     string  `json:"message"`
	Title       *string `json:"title"`
	RawDetails  *string `json:"raw_details"`
}

type status struct {
	id                                    int64
	sha, context, state, description, url string
	by                                    *user
	at                                    time.Time
}

type workflowRun struct {
	id, number         int64
	attempt            int
	workflowID         int64
	name, path         string
	event              string
	branch, sha        string
	suite              *suite
	actor              *user
	status, conclusion string
	made, updated      time.Time
	started            time.Time
	jobs               []*job // of every attempt
}

// latest are the jobs of the last attempt.
func (w *workflowRun) latest() []*job {
	var js []*job
	for _, j := range w.jobs {
		if slices.Contains(j.attempts, w.attempt) {
			js = append(js, j)
		}
	}
	return js
}

type job struct {
	id       int64 // also its check run's id, as on GitHub
	run      *workflowRun
	attempts []int // of the run that this job counts in
	plan     jobPlan
	check    *checkRun
	steps    []*step
	log      []byte
	made     time.Time
}

type step struct {
	number             int
	name               string
	status, conclusion string
	started, completed time.Time
}

type app struct {
	id          int64
	clientID    string
	slug, name  string
	owner       *user
	bot         *user
	key         *appKey
	permissions map[string]string
	events      []string
	made        time.Time
	hook        *hook

	clientSecret string
	callback     string // prefix of the addresses that sign-in may go back to
	setupURL     string // where installing goes back to
	pendingHook  string // of a manifest whose keys were not fetched yet
}

type installation struct {
	id           int64
	app          *app
	account      *user
	repos        []*repository
	made         time.Time
	updated      time.Time
	suspended    time.Time
	suspendedBy  *user
	removed      bool
	allRepos     bool
	permissions  map[string]string
	installEvent []string
}

func (i *installation) has(r *repository) bool { return slices.Contains(i.repos, r) }

// nodeID is an opaque GraphQL id with GitHub's kind of prefix.
func nodeID(prefix string, id int64) string {
	return prefix + "_" + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s%d", prefix, id))
}

// stamp is a time as GitHub prints it, or null.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// orNull is s, or null when it is empty.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
