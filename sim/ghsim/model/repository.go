package model

import (
	"slices"
	"strings"
	"time"
)

// Repository is a repository and everything in it.
type Repository struct {
	ID            int64
	Owner         *User
	Name          string
	Dir           string // of the bare git repository
	Private       bool
	Archived      bool
	NoIssues      bool   // issues are disabled
	NoPulls       bool   // pull requests are disabled
	NoDrafts      bool   // the owner's plan has no draft pull requests for it
	PullsLag      bool   // pull requests don't follow their branches
	MergeStale    bool   // pull requests are shown as conflicting with their base, whatever they contain
	MergesLag     bool   // deliveries about merges show the pull requests as they were before
	PullsBy       string // who may open pull requests: all ("") or collaborators_only
	DefaultBranch string
	Made, Pushed  time.Time
	LastNumber    int
	LastRun       int
	Refs          map[string]string // full ref name → SHA, as last announced
	Perms         map[string]string // lower-case login → role
	Labels        []*Label
	Issues        []*Issue // pull requests included, by number
	Suites        []*Suite
	Checks        []*CheckRun
	Statuses      []*Status
	Runs          []*Run
	Workflows     map[string]int64    // path → id
	Actions       Actions             // what keeps its workflows from running
	Protection    map[string][]string // branch → required contexts (classic protection)
	Rules         map[string][]Rule   // branch → rules of rulesets
	RulesLacking  bool                // the plan has no rules: the API refuses to tell them
	RulesHidden   int                 // the API's status instead of the rules; 0: it returns them
	Strict        map[string]bool     // branch → merges must be up to date with it
	TestMerges    map[string]string   // base and head → the commit that merges them
	Moved         map[int]string      // number → API address of a transferred issue; empty: it was deleted
	Signed        map[string]bool     // commits signed by GitHub
	Classic       map[string]Classic  // branch → what else its classic protection requires
	SignOff       bool                // commits made on the web must be signed off
	Hooks         bool                // pre-receive hooks check merges, as on GitHub Enterprise Server
	Rulesets      []Ruleset           // made through the API
	Ruleset       int64
	Pushes        Pushes
	Receiving     chan struct{} // capacity 1: one receive-pack at a time
}

// Pushes is what GitHub refuses in a push, whatever the branch.
type Pushes struct {
	FileSize int    // the most bytes of a file; 0: no limit
	Secret   string // what push protection treats as a secret; empty: nothing
}

// ReadOnly is GitHub's message for a change of an archived repository.
// https://docs.github.com/en/repositories/archiving-a-github-repository/archiving-repositories
// https://github.com/mozilla/fxa/pull/293
// https://github.com/renovatebot/renovate/blob/main/lib/modules/platform/github/index.ts
const ReadOnly = "Repository was archived so is read-only."

// Actions is what keeps the workflows of a repository from running.
type Actions struct {
	Approval bool   // runs wait for approval
	NoRunner bool   // jobs stay queued
	Refusal  string // jobs never start, with this message for each
	Startup  bool   // runs fail before they have a job
	Late     bool   // a job that needs others is made when those have ended, as on github.com
	Lost     bool   // no workflow starts: https://github.com/lewiswigmore/open-wire/issues/40
	Default  string // workflow of code scanning's default setup, on `dynamic`, for pull requests; empty: none
}

// Branches are the branch names, sorted.
func (r *Repository) Branches() []string {
	var bs []string
	for ref := range r.Refs {
		if b, is := strings.CutPrefix(ref, "refs/heads/"); is {
			bs = append(bs, b)
		}
	}
	slices.Sort(bs)
	return bs
}

// Protected reports whether a branch has protection or rules.
func (r *Repository) Protected(branch string) bool {
	return len(r.Protection[branch])+len(r.Rules[branch]) > 0 || r.Classic[branch] != Classic{}
}

// Comment is the comment of an id, or nil.
func (r *Repository) Comment(id int64) *Comment {
	for _, i := range r.Issues {
		for _, c := range i.Comments {
			if c.ID == id {
				return c
			}
		}
	}
	return nil
}

// first is the first match in a list; nil when there is none.
func first[T any](all []*T, is func(*T) bool) *T {
	if n := slices.IndexFunc(all, is); n >= 0 {
		return all[n]
	}
	return nil
}

// Check is the check run of an id, or nil.
func (r *Repository) Check(id int64) *CheckRun {
	return first(r.Checks, func(c *CheckRun) bool { return c.ID == id })
}

// FullName is owner/name.
func (r *Repository) FullName() string { return r.Owner.Login + "/" + r.Name }

// Issue is the issue or pull request of a number, or nil.
func (r *Repository) Issue(n int) *Issue {
	return first(r.Issues, func(i *Issue) bool { return i.Number == n })
}

// Label is the label of a name, or nil.
func (r *Repository) Label(name string) *Label {
	return first(r.Labels, func(l *Label) bool { return strings.EqualFold(l.Name, name) })
}

// Head is the commit of a branch; empty when there is no such branch.
func (r *Repository) Head(branch string) string { return r.Refs["refs/heads/"+branch] }

// Member reports whether a user has a role in addition to everybody's right to read a public repository.
func (r *Repository) Member(login string) bool {
	role := r.Perms[strings.ToLower(login)]
	return strings.EqualFold(login, r.Owner.Login) || role != "" && role != "none"
}

// Role is the role of a user: none, read, triage, write, maintain or admin.
func (r *Repository) Role(login string) string {
	if strings.EqualFold(login, r.Owner.Login) {
		return "admin"
	}
	if p := r.Perms[strings.ToLower(login)]; p != "" {
		return p
	}
	if !r.Private {
		return "read"
	}
	return "none"
}

// Roles are the roles that a person can have in a repository, each with the
// rights of those before it.
func Roles() []string { return []string{"none", "read", "triage", "write", "maintain", "admin"} }

// RoleRank is a role's index in Roles.
func RoleRank(role string) int { return slices.Index(Roles(), role) }

// AtLeast reports whether the role have includes the role want.
func AtLeast(have, want string) bool { return RoleRank(have) >= RoleRank(want) }

// StatusesOf are a commit's statuses, newest first.
func (r *Repository) StatusesOf(sha string) []*Status {
	var sts []*Status
	for _, st := range slices.Backward(r.Statuses) {
		if st.SHA == sha {
			sts = append(sts, st)
		}
	}
	return sts
}

// LatestChecks are the newest check runs of each name in a suite.
func (r *Repository) LatestChecks(st *Suite) []*CheckRun {
	seen := map[string]bool{}
	var ks []*CheckRun
	for _, k := range slices.Backward(r.Checks) {
		if k.Suite == st && !seen[k.Name] {
			seen[k.Name] = true
			ks = append(ks, k)
		}
	}
	return ks
}

// RunOf is the workflow run of a suite, or nil.
func (r *Repository) RunOf(st *Suite) *Run {
	return first(r.Runs, func(run *Run) bool { return run.Suite == st })
}

// Association is an author's relation to a repository.
func (r *Repository) Association(u *User) string {
	switch {
	case u == nil || u.Kind == "Bot":
		return "NONE"
	case u == r.Owner:
		return "OWNER"
	case AtLeast(r.Role(u.Login), "triage"):
		return "COLLABORATOR"
	}
	return "NONE"
}
