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

// mark begins the names of all that a bench makes.
const mark = "sia-probe"

// Options say how a run goes. The zero value is for a real GitHub.
type Options struct {
	Only    *regexp.Regexp                             // facts by their ids; nil: all
	Secrets *secret.Masker                             // masks what is recorded; nil: by form alone
	Spacing time.Duration                              // between two writes; 0 is one second, as GitHub asks for
	Now     func() time.Time                           // nil is time.Now
	Sleep   func(context.Context, time.Duration) error // nil waits by the wall clock
	Name    string                                     // of the run; "": the date and something random
	Seen    func(Result)                               // is told each result as it comes; may be nil
	Record  bool                                       // what was asked and answered is kept in the results
}

func (o Options) withDefaults() Options {
	if o.Spacing == 0 {
		o.Spacing = time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Name == "" {
		o.Name = o.Now().UTC().Format(nameTime) + "-" + strings.ToLower(rand.Text()[:8])
	}
	if o.Seen == nil {
		o.Seen = func(Result) {}
	}
	return o
}

// nameTime is how the names of runs say when they began.
const nameTime = "20060102t1504"

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Bench is a repository to try things in.
type Bench struct {
	raw     github.Raw
	network http.RoundTripper // signed in to the repository
	options Options
	masker  *secret.Masker
	wrote   time.Time // when something was written last

	undos  []undo
	shared map[string]sharing // by name
	count  int                // of names
}

// Report is the result of a run.
type Report struct {
	Repository string    `json:"repository"`
	API        string    `json:"api"`
	Enterprise string    `json:"enterprise,omitempty"` // the version of a GitHub Enterprise Server
	Run        string    `json:"run"`
	Began      time.Time `json:"began"`
	Results    []Result  `json:"facts"`
	Left       []string  `json:"left"` // what could not be taken back
}

// Count is how many facts have a verdict.
func (r Report) Count(v Verdict) (n int) {
	for _, x := range r.Results {
		if x.Verdict == v {
			n++
		}
	}
	return n
}

// OK reports whether nothing differs, nothing failed and nothing is left behind.
func (r Report) OK() bool {
	for _, x := range r.Results {
		if x.Verdict == Differs || x.Broken {
			return false
		}
	}
	return len(r.Left) == 0
}

// Run tries the facts one after the other, and takes back what that made. When the context ends, the facts that were
// not tried say so.
func Run(ctx context.Context, raw github.Raw, o Options) Report {
	o = o.withDefaults()
	b := &Bench{raw: raw, network: signed{raw.Network, raw.Token}, options: o, masker: o.Secrets,
		shared: map[string]sharing{}}
	report := Report{Repository: raw.Repo.String(), API: raw.API, Run: b.name(), Began: o.Now().UTC(), Left: []string{}}
	b.sweepOld(ctx)
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

// try is the result of one fact.
func (b *Bench) try(ctx context.Context, f Fact) Result {
	r := Result{ID: f.ID, Fact: f.Text, Source: address(f.Source), Verdict: Holds}
	t := &Try{Bench: b, ctx: ctx, result: &r}
	missing := lacking(f.Needs, b.raw.Granted)
	switch {
	case f.Probe == nil:
		t.Skip(f.NotFor)
	case ctx.Err() != nil:
		t.Skip("the run was stopped before")
	case missing != "":
		t.Skip("the installation lacks " + missing)
	default:
		f.Probe(t)
	}
	return r
}

// name is the mark of this run.
func (b *Bench) name() string { return mark + "/" + b.options.Name }

// unique is a name that nothing else here has.
func (b *Bench) unique(what string) string {
	b.count++
	return fmt.Sprintf("%s/%s-%d", b.name(), what, b.count)
}

// pace waits until the next write may go out.
func (b *Bench) pace(ctx context.Context) error {
	if wait := b.options.Spacing - b.options.Now().Sub(b.wrote); wait > 0 && !b.wrote.IsZero() {
		if err := b.options.Sleep(ctx, wait); err != nil {
			return err
		}
	}
	b.wrote = b.options.Now()
	return nil
}

// enterprise is the version that a GitHub Enterprise Server says it is.
func (b *Bench) enterprise(ctx context.Context) string {
	a, err := b.exchange(ctx, b.network, http.MethodGet, b.raw.API+"meta", nil, nil)
	if err != nil {
		return ""
	}
	return a.Header.Get("X-GitHub-Enterprise-Version")
}

// sharing is what facts share, or why there is none.
type sharing struct {
	value  any
	failed *Result
}

// once makes something that several facts share. Where making it failed, each of them says so, and nothing is tried
// twice.
func once[T any](t *Try, name string, make func(*Try) T) (v T) {
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
		t.result.Why, t.result.Broken, t.err = r.Why, r.Broken, errEnded
		return v
	}
	v = make(t)
	s = sharing{value: v}
	if !t.ok() {
		failed := *t.result
		s.failed = &failed
	}
	t.shared[name] = s
	return v
}
