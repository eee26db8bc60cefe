package probe

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia/secret"
)

// mark is the prefix of the names of everything that a bench creates.
const mark = "sia-probe"

// Options configure a run. The zero value suits a real GitHub.
type Options struct {
	Only    *regexp.Regexp                             // which facts to try, by id; nil: all
	Secrets *secret.Masker                             // masks what is recorded; nil: only known forms of secrets
	Spacing time.Duration                              // between two writes; 0: one second, as GitHub asks
	Now     func() time.Time                           // nil: time.Now
	Sleep   func(context.Context, time.Duration) error // nil: sleeps by the wall clock
	Name    string                                     // of the run; "": the date and a random text
	Seen    func(Result)                               // called with each result; may be nil
	Record  bool                                       // keep the requests and responses in the results
}

func (o Options) withDefaults() Options {
	if o.Spacing == 0 {
		o.Spacing = time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = github.Sleep
	}
	if o.Name == "" {
		o.Name = o.Now().UTC().Format(nameTime) + "-" + strings.ToLower(rand.Text()[:8])
	}
	if o.Seen == nil {
		o.Seen = func(Result) {}
	}
	return o
}

// nameTime is the layout of the start time in the names of runs.
const nameTime = "20060102t1504"

// Bench is a repository for probes.
type Bench struct {
	raw       github.Raw
	network   http.RoundTripper // authenticated for the repository
	options   Options
	masker    *secret.Masker
	lastWrite time.Time // time of the last write

	undos  []undo
	shared map[string]sharedValue // by name
	count  int                    // for unique names
}

// Report holds the results of a run.
type Report struct {
	Repository string    `json:"repository"`
	API        string    `json:"api"`
	Enterprise string    `json:"enterprise,omitempty"` // version of a GitHub Enterprise Server
	Run        string    `json:"run"`
	Began      time.Time `json:"began"`
	Results    []Result  `json:"facts"`
	Left       []string  `json:"left"` // objects that could not be removed
}

// Count returns the number of facts with a verdict.
func (r Report) Count(v Verdict) (n int) {
	for _, x := range r.Results {
		if x.Verdict == v {
			n++
		}
	}
	return n
}

// OK reports whether no fact differs, none failed and no objects remain.
func (r Report) OK() bool {
	for _, x := range r.Results {
		if x.Verdict == Differs || x.Broken {
			return false
		}
	}
	return len(r.Left) == 0
}

// Run tries the facts one by one, and removes the objects that it created. If the context ends, the other facts are
// reported as not tried.
func Run(ctx context.Context, raw github.Raw, o Options) Report {
	o = o.withDefaults()
	b := &Bench{raw: raw, network: tokenAuth{raw.Network, raw.Token}, options: o, masker: o.Secrets,
		shared: map[string]sharedValue{}}
	report := Report{Repository: raw.Repo.String(), API: raw.API, Run: b.name(), Began: o.Now().UTC(), Left: []string{}}
	b.removeStale(ctx)
	for _, f := range Facts() {
		if o.Only != nil && !o.Only.MatchString(f.ID) {
			continue
		}
		r := b.try(ctx, f)
		report.Results = append(report.Results, r)
		o.Seen(r)
	}
	report.Enterprise = b.enterprise(ctx)
	report.Left = append(report.Left, b.clean(ctx)...)
	return report
}

// try tries one fact.
func (b *Bench) try(ctx context.Context, f Fact) Result {
	r := Result{ID: f.ID, Fact: f.Text, Source: sourceURL(f.Source), Verdict: Holds}
	t := &Try{Bench: b, ctx: ctx, result: &r}
	missing := missingPermissions(f.Needs, b.raw.Granted)
	switch {
	case ctx.Err() != nil:
		t.Skip("the run was stopped before")
	case missing != "":
		t.Skip("the installation lacks " + missing)
	default:
		f.Probe(t)
	}
	return r
}

// name returns the prefix of the names in this run.
func (b *Bench) name() string { return mark + "/" + b.options.Name }

// unique returns a unique name.
func (b *Bench) unique(what string) string {
	b.count++
	return fmt.Sprintf("%s/%s-%d", b.name(), what, b.count)
}

// pace waits until the next write may be sent.
func (b *Bench) pace(ctx context.Context) error {
	if wait := b.options.Spacing - b.options.Now().Sub(b.lastWrite); wait > 0 && !b.lastWrite.IsZero() {
		if err := b.options.Sleep(ctx, wait); err != nil {
			return err
		}
	}
	b.lastWrite = b.options.Now()
	return nil
}

// enterprise returns the version of a GitHub Enterprise Server.
func (b *Bench) enterprise(ctx context.Context) string {
	a, err := b.exchange(ctx, b.network, http.MethodGet, b.raw.API+"meta", nil, nil)
	if err != nil {
		return ""
	}
	return a.Header.Get("X-GitHub-Enterprise-Version")
}

// sharedValue is an object that facts share, or the result of the failure to create it.
type sharedValue struct {
	value  any
	failed *Result
}

// share creates an object that several facts share. If that fails, each of them reports it, and creating it is not
// tried again.
func share[T any](t *Try, name string, make func(*Try) T) (v T) {
	if !t.ok() {
		return v
	}
	s, known := t.shared[name]
	switch {
	case known && s.failed == nil:
		v, _ = s.value.(T)
		return v
	case known:
		r := s.failed
		t.result.Verdict, t.result.Expected, t.result.Answered = r.Verdict, r.Expected, r.Answered
		t.result.Why, t.result.Broken, t.err = r.Why, r.Broken, errDone
		return v
	}
	v = make(t)
	s = sharedValue{value: v}
	if !t.ok() {
		failed := *t.result
		s.failed = &failed
	}
	t.shared[name] = s
	return v
}
