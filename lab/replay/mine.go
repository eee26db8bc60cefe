package replay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia/secret"
)

// MineSpec configures mining and its limits. History, Folder, Box and Repo are required.
type MineSpec struct {
	History *gitops.History
	Folder  *Folder
	Box     *sandbox.Sandbox
	Repo    string   // owner/name, or the folder's name
	Hosts   []string // that fetching may reach, in addition to the registries of the languages

	Max        int           // ends when the folder has so many tasks; 0: no limit
	Candidates int           // maximum number of commits judged by this call; 0: no limit
	Budget     time.Duration // ends after this, and abandons unfinished candidates. 0: no limit
	Within     time.Duration // limit for building and running the tests of one tree. 0: 5 minutes
	Workers    int           // candidates judged at once; 0: one for each two processors, at most four

	// Issue gives an issue's title and text; nil, or an error: the commit's message is the text.
	Issue    func(ctx context.Context, number int) (title, text string, err error)
	Progress func(Progress) // called after each candidate, not concurrently; may be nil
	Now      func() time.Time
	Logger   *slog.Logger
}

// Progress is one candidate that was judged.
type Progress struct {
	Candidate
	Title  string // of the commit
	Judged int    // by this call, including this one
	Tasks  int    // that the folder has now
}

// Mined is the result of mining.
type Mined struct {
	Judged  int             // of this call
	Counts  map[Verdict]int // of everything in the folder
	Median  float64         // seconds for a candidate of this call; 0: none was judged
	Tasks   int             // that the folder has
	Passed  map[string]int  // commits that this call skipped, by the reason
	Missing []string        // languages with candidates that can't run on this machine, with the missing program
	Stopped string          // why it ended before the history did; "": it read all of it
}

// trimEvery is the number of candidates after which a worker checks the size of the caches.
const trimEvery = 16

// defaultWorkers is one for each two processors: both trees of a candidate run at once.
func defaultWorkers() int { return min(max(runtime.GOMAXPROCS(0)/2, 1), 4) }

// errEnough ends mining when it has found enough.
var errEnough = errors.New("enough")

// Mine searches a repository's history for tasks, newest first, and stores tasks and judged candidates
// in the folder. It continues where an earlier call stopped, or was killed. A used-up budget
// is not an error; when ctx ends, it returns the cause.
func Mine(ctx context.Context, s MineSpec) (Mined, error) {
	if s.History == nil || s.Folder == nil || s.Box == nil || s.Repo == "" {
		return Mined{}, errors.New("mine tasks: history, folder, sandbox and repository have to be given")
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	if s.Workers <= 0 {
		s.Workers = defaultWorkers()
	}
	known, err := s.Folder.Candidates()
	if err != nil {
		return Mined{}, fmt.Errorf("mine tasks: %w", err)
	}
	tasks, _, err := s.Folder.Tasks()
	if err != nil {
		return Mined{}, fmt.Errorf("mine tasks: %w", err)
	}
	m := &miner{MineSpec: s, known: known, tasks: map[string]bool{}, missing: map[string]bool{},
		passed: map[string]int{}, runner: newRunner(s.Box, s.History, s.Folder, s.Hosts, s.Within)}
	for _, t := range tasks {
		m.tasks[t.ID] = true
	}
	err = m.run(ctx)
	out := m.summary()
	switch {
	case errors.Is(err, errEnough):
		out.Stopped = "what was asked for is there"
		err = nil
	case errors.Is(err, errBudget) && ctx.Err() == nil:
		out.Stopped = "the time for it is used up; mining goes on from here the next time"
		err = nil
	case err == nil && m.bounded:
		out.Stopped = "as many commits were judged as were allowed; mining goes on from here the next time"
	case err != nil:
		err = fmt.Errorf("mine tasks: %w", err)
	}
	return out, err
}

var errBudget = errors.New("the budget is used up")

// miner is the state of one call of Mine.
type miner struct {
	MineSpec
	runner *testrun.Runner

	mu      sync.Mutex
	known   map[string]Candidate
	tasks   map[string]bool
	missing map[string]bool // programs
	passed  map[string]int
	begun   int // candidates that were handed out
	seconds []float64
	bounded bool // the maximum number of candidates was handed out, and there are more
}

// run hands candidates to workers, each with its own trees.
func (m *miner) run(ctx context.Context) error {
	if m.Budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, m.Budget, errBudget)
		defer cancel()
	}
	if m.enough() {
		return errEnough
	}
	g, ctx := errgroup.WithContext(ctx)
	next := make(chan filtered)
	for i := range m.Workers {
		g.Go(func() error { return m.work(ctx, i, next) })
	}
	g.Go(func() error {
		defer close(next)
		return m.find(ctx, next)
	})
	err := g.Wait()
	if err != nil && ctx.Err() != nil && errors.Is(context.Cause(ctx), errBudget) {
		return errBudget
	}
	return err
}

// find walks the history and hands out candidates that were not judged yet.
func (m *miner) find(ctx context.Context, next chan<- filtered) error {
	err := m.History.Commits(ctx, func(c gitops.HistoryCommit) (more bool, err error) {
		if m.isJudged(c.SHA) {
			return true, nil
		}
		found, ok, err := candidateOf(ctx, m.History, c)
		if errors.Is(err, gitops.ErrMissing) || errors.Is(err, gitops.ErrTree) {
			m.Logger.DebugContext(ctx, "commit can't be read", "commit", c.SHA, "error", err)
			return true, nil
		}
		if err != nil || !ok {
			return err == nil, err
		}
		if program := found.lang.Program(); !m.runner.Has(program) {
			m.mu.Lock()
			m.missing[program] = true
			m.mu.Unlock()
			return true, nil
		}
		if m.Candidates > 0 && m.begun >= m.Candidates {
			m.bounded = true
			return false, errEnough
		}
		sifted, why, err := filterTests(ctx, m.runner, found)
		if isAbsent(err) {
			why, err = string(Absent), nil
		}
		if err != nil {
			return false, err
		}
		if why != "" {
			m.mu.Lock()
			m.passed[why]++
			m.mu.Unlock()
			return true, nil
		}
		m.begun++
		select {
		case next <- sifted:
			return true, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	})
	if errors.Is(err, errEnough) {
		return nil // workers finish their present candidates
	}
	return err
}

func (m *miner) work(ctx context.Context, number int, next <-chan filtered) error {
	p := newPair(m.runner, filepath.Join(m.Folder.cache(), fmt.Sprintf("trees-%d", number)))
	for n := 0; ; n++ {
		if n%trimEvery == 0 {
			if err := m.runner.TrimCache(ctx); err != nil {
				return err
			}
		}
		select {
		case c, ok := <-next:
			if !ok {
				return nil
			}
			if err := m.judge(ctx, p, c); err != nil {
				return err
			}
			if m.enough() {
				return errEnough
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (m *miner) isJudged(sha string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, ok := m.known[sha]
	return ok && !before.again()
}

func (m *miner) enough() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Max > 0 && len(m.tasks) >= m.Max
}

// judge judges one candidate and stores its result: the task first.
func (m *miner) judge(ctx context.Context, p *pair, c filtered) error {
	began := m.Now()
	j, err := p.judge(ctx, c)
	if err != nil {
		return err
	}
	got := Candidate{Commit: c.SHA, Language: c.lang.Name(), Verdict: j.verdict, Why: shown(j.why, 2000),
		Seconds: m.Now().Sub(began).Seconds(), At: m.Now().UTC().Truncate(time.Second)}
	if j.verdict == Ended {
		m.mu.Lock()
		got.Endings = m.known[c.SHA].Endings + 1
		m.mu.Unlock()
	}
	var t Task
	if j.verdict == Verified {
		t = c.task(m.Repo, j.split, j.failing, j.passing, m.Now())
		if m.Issue != nil && t.Issue > 0 {
			if title, body, err := m.Issue(ctx, t.Issue); err == nil && title != "" {
				t.Title, t.Text = shown(title, maxTitle), shown(body, maxText)
			}
		}
		if err := m.Folder.saveOutput(t.ID, secret.Mask(j.output)); err != nil {
			return err
		}
		if err := m.Folder.SaveTask(t); err != nil {
			return err
		}
	}
	if err := m.Folder.saveCandidate(got); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.ID != "" {
		m.tasks[t.ID] = true
	}
	m.known[c.SHA] = got
	m.seconds = append(m.seconds, got.Seconds)
	if m.Progress != nil {
		title, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
		m.Progress(Progress{Candidate: got, Title: shown(title, maxTitle), Judged: len(m.seconds), Tasks: len(m.tasks)})
	}
	return nil
}

func (m *miner) summary() Mined {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := Mined{Judged: len(m.seconds), Counts: map[Verdict]int{}, Median: median(m.seconds), Tasks: len(m.tasks),
		Passed: maps.Clone(m.passed)}
	for _, c := range m.known {
		out.Counts[c.Verdict]++
	}
	for program := range m.missing {
		out.Missing = append(out.Missing, program)
	}
	slices.Sort(out.Missing)
	return out
}

func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(of))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
