package app_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/scripted"
)

var (
	lossyFrom  = flag.Uint64("lossy.from", 1, "the first seed of TestHalfTheWebhooks")
	lossyCount = flag.Int("lossy.count", 1, "how many weeks with lost webhooks TestHalfTheWebhooks plays")
	lossyLog   = flag.Bool("lossy.log", false, "TestHalfTheWebhooks tells what happens to webhooks, and what people do")
)

// TestHalfTheWebhooks plays the same tasks twice for a week: with all webhooks, and with half of them lost and others
// doubled, or late and in another order. Every task ends the same.
func TestHalfTheWebhooks(t *testing.T) {
	t.Parallel()
	var without map[string]string
	t.Run("without", func(t *testing.T) { without = playWeek(t, nil) })
	for seed := *lossyFrom; seed < *lossyFrom+uint64(*lossyCount); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := newPost(t, seed)
			if diff := cmp.Diff(without, playWeek(t, p)); diff != "" {
				t.Errorf("tasks end in another way when webhooks are lost (-with all webhooks +without):\n%s", diff)
			}
			for _, f := range []fate{lost, gone, twice, late} {
				if p.sums[f] < 20 {
					t.Errorf("%d deliveries were %s", p.sums[f], f)
				}
			}
		})
	}
}

// post decides what happens to webhooks. It depends on the seed, the repository, the event and how many of these there
// were before, not on the order of what happens in different repositories.
type post struct {
	t    *testing.T
	seed uint64
	rng  *rand.Rand

	mu    sync.Mutex
	count map[string]int
	fates map[int64]fate
	never map[string]bool // GUIDs of deliveries that never arrive
	tries map[string]int  // redeliveries, by GUID
	sums  map[fate]int
}

// fate is what happens to a delivery.
type fate string

const (
	arrives fate = "arrives"
	twice   fate = "doubled"
	late    fate = "late"
	lost    fate = "lost" // half of its redeliveries are, too
	gone    fate = "gone" // all of its redeliveries are lost
)

// maxLost is how often a delivery is lost at most, unless it never arrives. SIA asks for six redeliveries within two
// days, and GitHub keeps deliveries for three. Story outage-of-days is about longer outages.
const maxLost = 5

func newPost(t *testing.T, seed uint64) *post {
	return &post{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), count: map[string]int{}, fates: map[int64]fate{},
		never: map[string]bool{}, tries: map[string]int{}, sums: map[fate]int{}}
}

// fate returns what happens to a delivery.
func (p *post) fate(d ghsim.Delivery) fate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f, ok := p.fates[d.ID]; ok {
		return f
	}
	key := fmt.Sprintf("%s/%s.%s", d.Repo, d.Event, d.Action)
	p.count[key]++
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s/%d", p.seed, key, p.count[key])
	f := []fate{lost, lost, gone, twice, late, arrives}[rand.New(rand.NewPCG(h.Sum64(), 0)).IntN(6)]
	switch {
	case d.Redelivery:
		p.tries[d.GUID]++
		if again := f != lost && f != gone || p.tries[d.GUID] == maxLost; again && !p.never[d.GUID] {
			f = arrives // the simulator neither doubles nor holds what it is asked to send again
		} else {
			f = lost
		}
	case f == gone && (d.Event == "issue_comment" || d.Event+"."+d.Action == "issues.labeled"):
		f = lost // SIA looks neither for labels on issues without a task nor for comments on stopped tasks
	case f == gone:
		p.never[d.GUID] = true
	}
	p.fates[d.ID] = f
	p.sums[f]++
	if *lossyLog {
		p.t.Logf("%s #%d, redelivery %v: %s", key, p.count[key], d.Redelivery, f)
	}
	return f
}

// is accepts the deliveries with one of some fates.
func (p *post) is(any ...fate) func(ghsim.Delivery) bool {
	return func(d ghsim.Delivery) bool { return slices.Contains(any, p.fate(d)) }
}

// shuffled is an order in which late deliveries arrive.
func (p *post) shuffled(ds []ghsim.Delivery) []int { return p.rng.Perm(len(ds)) }

// weekTask is a task and what people do about it: each step once, in order, as soon as GitHub shows what it waits for.
type weekTask struct {
	name   string
	body   string // of the issue
	cut    bool   // people stop an attempt that would fail
	steps  []step
	repo   string
	who    string // opens the issue, and does the steps
	number int    // of the issue
	done   int    // steps
}

type step struct {
	when func(*seen) bool
	do   func(*ghsim.Server, *seen) error
}

// seen is what people see of a task on GitHub.
type seen struct {
	*weekTask
	issue    ghsim.IssueView
	pull     ghsim.PullView  // number 0: there is none
	question ghsim.IssueView // an issue of its own that asks; number 0: there is none
	box      int64           // the comment that asks; 0: there is none
}

// weekTasks are the tasks. The scripted model's first attempt is wrong and its second is right, unless the issue says
// otherwise.
func weekTasks() []*weekTask {
	comment := func(text string) func(*ghsim.Server, *seen) error {
		return func(sim *ghsim.Server, s *seen) error {
			_, err := sim.Comment(s.repo, s.number, s.who, text)
			return err
		}
	}
	tells := func(words string) func(*seen) bool {
		return func(s *seen) bool { return strings.Contains(s.status(), words) }
	}
	both := func(a, b func(*ghsim.Server, *seen) error) func(*ghsim.Server, *seen) error {
		return func(sim *ghsim.Server, s *seen) error {
			if err := a(sim, s); err != nil {
				return err
			}
			return b(sim, s)
		}
	}
	label := step{func(*seen) bool { return true }, func(sim *ghsim.Server, s *seen) error {
		return sim.Label(s.repo, s.number, s.who, "sia")
	}}
	checked := func(s *seen) bool { return s.pull.Number != 0 && s.pull.Draft }
	ready := func(s *seen) bool { return s.pull.Number != 0 && !s.pull.Draft }
	asked := func(s *seen) bool { return s.question.Number != 0 || s.box != 0 }
	all := []*weekTask{
		{name: "merged", body: "It is right at once.", steps: []step{{ready, func(sim *ghsim.Server, s *seen) error {
			_, err := sim.MergePull(s.repo, s.pull.Number, s.who)
			return err
		}}}},
		{name: "out-of-approaches", body: "It is never right."},
		{name: "ticked", body: "It is asked first.", steps: []step{{asked, func(sim *ghsim.Server, s *seen) error {
			return sim.TickCommentBox(s.repo, s.box, s.who, "A")
		}}}},
		{name: "answered", body: "It is asked later.", steps: []step{{asked, func(sim *ghsim.Server, s *seen) error {
			_, err := sim.Comment(s.repo, s.question.Number, s.who, "/sia answer B")
			return err
		}}}},
		{name: "unanswered", body: "It is asked later.", steps: []step{{asked, func(sim *ghsim.Server, s *seen) error {
			return sim.CloseIssue(s.repo, s.number, s.who)
		}}}},
		{name: "helped", body: "It is asked later.", steps: []step{{asked, func(sim *ghsim.Server, s *seen) error {
			_, err := sim.PushFiles(s.repo, s.pull.HeadRef, s.who, "The comma",
				map[string]string{"hello.txt": "Hello, world!\n"})
			return err
		}}}},
		{name: "stopped", cut: true, steps: []step{{checked, comment("/sia stop")}}},
		{name: "started-again", cut: true, steps: []step{{checked, comment("/sia stop")},
			{tells("Stopped"), comment("/sia start It is right at once.")}}},
		{name: "unlabelled", cut: true, steps: []step{{checked, func(sim *ghsim.Server, s *seen) error {
			return sim.Unlabel(s.repo, s.number, s.who, "sia")
		}}}},
		{name: "closed", body: "It is right at once.", steps: []step{{checked, func(sim *ghsim.Server, s *seen) error {
			return sim.ClosePull(s.repo, s.pull.Number, s.who)
		}}}},
		{name: "reviewed", body: "It is right at once.", steps: []step{{ready, func(sim *ghsim.Server, s *seen) error {
			return sim.Review(s.repo, s.pull.Number, s.who, "changes_requested", "",
				ghsim.ReviewLine{Path: "hello.txt", Line: 1, Body: "Say why in notes.txt."})
		}}, {func(s *seen) bool { return ready(s) && slices.Contains(s.pull.Files, "notes.txt") },
			comment("/sia help")}}},
		{name: "resumed-at-once", steps: []step{{checked, both(comment("/sia pause"), comment("/sia resume"))}}},
		{name: "labelled-at-once", steps: []step{{checked, both(func(sim *ghsim.Server, s *seen) error {
			return sim.Unlabel(s.repo, s.number, s.who, "sia")
		}, label.do)}}},
		{name: "edited", steps: []step{{checked, func(sim *ghsim.Server, s *seen) error {
			return sim.EditIssueBody(s.repo, s.number, s.who, "Put a greeting into `hello.txt`. It is right at once.")
		}}}},
	}
	for _, e := range all {
		e.steps = append([]step{label}, e.steps...)
	}
	return all
}

// status is SIA's status comment.
func (s *seen) status() string {
	for _, c := range s.issue.Comments {
		if m, ok := render.ParseMarker(c.Body); ok && c.Author == apptest.Bot && m.Kind == "status" {
			return c.Body
		}
	}
	return ""
}

// week is a week of a stage.
type week struct {
	*apptest.Stage
	t     *testing.T
	post  *post // nil: all webhooks arrive
	tasks []*weekTask
	acted time.Time // when somebody last did something
}

// playWeek plays the tasks for a week, and returns how they ended.
func playWeek(t *testing.T, p *post) map[string]string {
	t.Helper()
	w := &week{Stage: apptest.Start(t, lossyConfig(t)), t: t, post: p, tasks: weekTasks()}
	for _, e := range w.tasks {
		// A person of its own: tasks that one person starts wait for each other.
		e.repo, e.who = w.AddRepo(e.name), "who-"+e.name
		w.Sim.CreateUser(e.who)
		w.must(w.Sim.SetPermission(e.repo, e.who, "write"))
	}
	if p != nil {
		w.Sim.DropDeliveries(p.is(lost, gone))
		w.Sim.DuplicateDeliveries(p.is(twice))
		w.Sim.HoldDeliveries(p.is(late))
	}
	for _, e := range w.tasks {
		var err error
		e.number, err = w.Sim.OpenIssue(e.repo, e.who, "Greet the customers", "Put a greeting into `hello.txt`. "+e.body)
		w.must(err)
	}
	w.Quiet()
	w.pass()
	ends := map[string]string{}
	for _, e := range w.tasks {
		if e.done < len(e.steps) {
			t.Errorf("%s: people have waited for a week to do step %d", e.name, e.done)
		}
		ends[e.name] = w.record(e)
	}
	return ends
}

// pass passes a week, with the periodic work.
func (w *week) pass() {
	w.acted = w.Clock.Now()
	end := w.acted.Add(7 * 24 * time.Hour)
	for round := 0; w.Clock.Now().Before(end); round++ {
		pause := 10 * time.Minute // a server looks every minute
		switch quiet := w.Clock.Now().Sub(w.acted); {
		case quiet > 24*time.Hour:
			pause = 12 * time.Hour
		case quiet > 2*time.Hour:
			pause = time.Hour
		}
		w.advance(w.Clock.Now().Add(pause))
		if w.post != nil && round%3 == 0 {
			w.Sim.Release(w.post.shuffled)
			w.act()
		}
		for _, name := range []string{"redeliver", "look", "approvals", "repair", "watch", "feedback", "heartbeat"} {
			if (name == "heartbeat" || name == "feedback") && round%6 != 0 {
				continue
			}
			_ = w.App.Periodic(w.t.Context(), name) // a server logs an error, and goes on
			w.act()
		}
	}
}

// advance advances the time, and lets people act whenever something happened.
func (w *week) advance(until time.Time) {
	for {
		w.act()
		due, err := w.App.Engine().NextDue(w.t.Context())
		w.must(err)
		if due.IsZero() || due.After(until) {
			w.Clock.Jump(until)
			return
		}
		w.Clock.Jump(due)
	}
}

// act lets people do what is due.
func (w *week) act() {
	w.Quiet()
	for again := true; again; {
		again = false
		for _, e := range w.tasks {
			if e.done == len(e.steps) {
				continue
			}
			if s := w.see(e); e.steps[e.done].when(s) {
				if *lossyLog {
					w.t.Logf("%s: step %d at %s", e.name, e.done, w.Clock.Now())
				}
				w.must(e.steps[e.done].do(w.Sim, s))
				w.Quiet()
				e.done++
				w.acted, again = w.Clock.Now(), true
			}
		}
	}
}

// see is what people see of a task.
func (w *week) see(e *weekTask) *seen {
	s := &seen{weekTask: e}
	all, err := w.Sim.Issues(e.repo)
	w.must(err)
	for _, i := range all {
		switch {
		case i.Number == e.number:
			s.issue = i
		case i.IsPull && i.Author == apptest.Bot:
			s.pull, err = w.Sim.Pull(e.repo, i.Number)
			w.must(err)
		case i.Author == apptest.Bot:
			s.question = i
		}
	}
	for _, c := range s.issue.Comments {
		if m, ok := render.ParseMarker(c.Body); ok && c.Author == apptest.Bot && m.Kind == string(sia.DoEscalate) {
			s.box = c.ID
		}
	}
	return s
}

func (w *week) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// record is how a task ended: its state and limits, and what people see. Left out is what depends on when SIA
// noticed what people did: times, costs, what a stopped attempt had come to, and what is folded away in comments.
func (w *week) record(e *weekTask) string {
	repo, err := w.Sim.Repo(e.repo)
	w.must(err)
	t, err := w.App.Store.Task(w.t.Context(), sia.NewTaskID(repo.ID, e.number))
	w.must(err)
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d of %d approaches, %d attempts, pending %v\n", t.State, len(t.Prompts), t.Approaches,
		len(t.Attempts), t.Pending)
	for _, a := range t.Answers {
		fmt.Fprintf(&b, "answer %s\n", a.Text)
	}
	all, err := w.Sim.Issues(e.repo)
	w.must(err)
	for _, i := range all {
		fmt.Fprintf(&b, "#%d by %s: %s %v\n", i.Number, i.Author, i.State, i.Labels)
		if i.IsPull {
			p, err := w.Sim.Pull(e.repo, i.Number)
			w.must(err)
			fmt.Fprintf(&b, "draft %v, merged %v\n", p.Draft, p.Merged)
			for _, f := range p.Files {
				text, err := w.Sim.File(e.repo, p.HeadRef, f)
				fmt.Fprintf(&b, "%s: %q %v\n", f, text, err)
			}
			for _, v := range p.Reviews {
				fmt.Fprintf(&b, "review by %s: %s\n", v.Author, v.State)
			}
			for _, c := range p.OnLines {
				fmt.Fprintf(&b, "%s by %s: %s\n", c.Path, c.Author, firstLine(c.Body))
			}
		}
		for _, c := range i.Comments {
			m, _ := render.ParseMarker(c.Body)
			if m.Kind == string(sia.DoAnnounce) && e.cut {
				continue // the attempt had failed before SIA noticed that it was to stop
			}
			slices.SortFunc(c.Reactions, func(a, b ghsim.ReactionView) int { return strings.Compare(a.Content, b.Content) })
			fmt.Fprintf(&b, "comment by %s %v: %s %s\n", c.Author, c.Reactions, m.Kind, firstLine(c.Body))
		}
	}
	return b.String()
}

// lossyConfig is the repository and the model of testdata/lossy.txtar.
func lossyConfig(t *testing.T) apptest.Config {
	t.Helper()
	a, err := txtar.ParseFile("testdata/lossy.txtar")
	if err != nil {
		t.Fatal(err)
	}
	c := apptest.Config{Files: map[string]string{}}
	var model txtar.Archive
	for _, f := range a.Files {
		if path, ok := strings.CutPrefix(f.Name, "repo/"); ok {
			c.Files[path] = string(f.Data)
		} else {
			model.Files = append(model.Files, f)
		}
	}
	if c.Model, err = scripted.Parse(txtar.Format(&model)); err != nil {
		t.Fatal(err)
	}
	return c
}

// firstLine is the first line that people read of a text, without names of commits and people: a commit's depends on
// the time, and a look at GitHub finds what was done, not who did it.
func firstLine(body string) string {
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "<!--") {
			return nameless.ReplaceAllString(apptest.Normal(line), "…")
		}
	}
	return ""
}

var nameless = regexp.MustCompile("\\b[0-9a-f]{7,40}\\b|`who-[a-z-]+`|somebody else")
