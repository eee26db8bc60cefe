package improve

import (
	"context"
	"errors"
	"fmt"

	"github.com/sia-bot/sia/agent/llm"
)

// Limits on an order.
const (
	MaxFile   = 1 << 20 // maximum size of a file before and after, in bytes
	MaxCycles = 20
)

// File is the content of a text file, or an absent file.
type File struct {
	Text   string
	Absent bool
}

// Model is a chat model. [llm.Client] and [llm.Chain] are.
type Model interface {
	Complete(context.Context, llm.Request) (llm.Response, error)
	Window() int    // tokens, the answer included
	MaxOutput() int // tokens of an answer
}

// Files is the working copy. Names are slash-separated and relative to its root.
type Files interface {
	Read(name string) (File, error)
	// Write writes the file, or removes it if f is absent.
	Write(name string, f File) error
}

// Tester runs the self-test on the copy. An error means that it could not be run.
type Tester interface {
	Test(ctx context.Context, file string) (TestRun, error)
}

// Checker parses a file of the copy with its language's own parser, where there is one.
type Checker interface {
	Check(ctx context.Context, name string) (Parse, error)
}

// Replayer replays recorded tasks with the copy in dir and returns whether each was resolved, by id. An empty result
// means that there are no tasks.
type Replayer interface {
	Replay(ctx context.Context, dir string) (results map[string]bool, err error)
}

// Pair is a replayed task's result with and without the change.
type Pair struct{ After, Before bool }

// Judgement is the judgement of replayed tasks on a change.
type Judgement struct {
	Verdict   ReplayVerdict
	E         float64 // e-value of the change being better
	Threshold float64 // minimum E to pass
	Why       string
}

// Replay replays tasks and compares their outcomes. Judge judges the k-th proposal, counted from 1, by pairs of
// outcomes.
type Replay struct {
	Replayer Replayer
	Dir      string // the copy
	Judge    func(k int, pairs []Pair) (Judgement, error)
}

// Config is the configuration of an Engine. Only Tests, Replay and Done are optional.
type Config struct {
	Author  Model // analyses and implements
	Critic  Model
	Files   Files
	Checker Checker             // for languages that Go libraries do not parse
	Mask    func(string) string // masks secrets in texts for models and in results
	Say     func(string)        // reports progress, line by line
	Tests   Tester              // nil: no self-test
	Replay  *Replay             // nil: no replay
	Done    func(Cycle) error   // called at the end of each cycle; may be nil
}

// Engine runs improvement cycles. It is not safe for concurrent use.
type Engine struct{ Config }

// New returns an engine, or an error for a missing part of the configuration.
func New(c Config) (*Engine, error) {
	switch {
	case c.Author == nil || c.Critic == nil:
		return nil, errors.New("make an improver: it needs a model to write and one to criticise")
	case c.Files == nil || c.Checker == nil || c.Mask == nil || c.Say == nil:
		return nil, errors.New("make an improver: it needs files, parsers, a mask and somebody to tell its progress")
	}
	return &Engine{c}, nil
}

// Log is the output of a program.
type Log struct{ Name, Text string }

// Order is an order to improve files.
type Order struct {
	Files     []string // files to improve; each cycle picks one
	Context   string   // the user's request, in their words
	Logs      []Log
	Cycles    int     // 1 to [MaxCycles]
	Threshold float64 // minimum score of the critique, 0 to 1
	Past      []Cycle // cycles of earlier runs on these files, oldest first
	Proposals int     // number of earlier proposals judged by replay
}

// check returns an error for an invalid order.
func (o Order) check() error {
	switch {
	case len(o.Files) == 0:
		return errors.New("improve: no file is named")
	case o.Cycles < 1 || o.Cycles > MaxCycles:
		return fmt.Errorf("improve: %d cycles; it takes 1 to %d", o.Cycles, MaxCycles)
	case !(o.Threshold >= 0 && o.Threshold <= 1): // also NaN
		return fmt.Errorf("improve: the critique's threshold is %v; it is a number from 0 to 1", o.Threshold)
	}
	return nil
}

// Change is a file before the run and after the last kept cycle.
type Change struct {
	Name          string
	Before, After File
}

// Result is the outcome of a run. It is complete even if the run ended with an error.
type Result struct {
	Cycles   []Cycle
	Changes  []Change  // kept changes, in the order in which the files were first changed
	Baseline *TestRun  // the self-test before the first cycle; nil: none
	Usage    llm.Usage // usage of all calls
	Ended    string    // why the run ended early, for display; "": all cycles were run
}

// Run runs cycles until the order is complete, nothing is left to improve, or a model fails. A failure of a model is
// not an error: Ended is the reason. An error means that ctx is done or that a port failed.
func (e *Engine) Run(ctx context.Context, o Order) (Result, error) {
	r := run{Engine: e, order: o}
	if err := o.check(); err != nil {
		return r.result, err
	}
	if err := r.baseline(ctx); err != nil {
		return r.result, err
	}
	for n := 1; n <= o.Cycles && r.result.Ended == ""; n++ {
		c := Cycle{Number: n, Outcome: Failed}
		err := r.cycle(ctx, &c)
		if err != nil && c.Reason == "" {
			c.Reason = e.Mask(err.Error())
		}
		r.result.Cycles = append(r.result.Cycles, c)
		r.result.Usage = r.result.Usage.Add(c.Usage)
		e.Say(fmt.Sprintf("cycle %d: %s: %s", n, c.Outcome, c.Reason))
		if e.Done != nil {
			err = errors.Join(err, e.Done(c))
		}
		if err != nil {
			return r.result, err
		}
	}
	return r.result, nil
}

// run is the execution of an order.
type run struct {
	*Engine
	order    Order
	result   Result
	replayed map[string]bool // results of replayed tasks with the last kept files
}

// baseline runs the self-test and replayed tasks before anything is changed.
func (r *run) baseline(ctx context.Context) error {
	if r.Tests != nil {
		r.Say("self-test before any change")
		got, err := r.Tests.Test(ctx, "")
		if err != nil {
			return fmt.Errorf("self-test before any change: %w", err)
		}
		got.Output = r.Mask(got.Output)
		r.result.Baseline = &got
		r.Say("self-test before any change: " + got.Ending)
	}
	if r.Replay == nil {
		return nil
	}
	r.Say("replay before any change")
	results, err := r.Replay.Replayer.Replay(ctx, r.Replay.Dir)
	if err != nil {
		return fmt.Errorf("replay before any change: %w", err)
	}
	r.replayed = results
	return nil
}

// cycle analyses, implements, evaluates, and keeps or reverts.
func (r *run) cycle(ctx context.Context, c *Cycle) error {
	p, why := r.analyse(ctx, c)
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("analyse: %w", err)
	}
	if why != "" {
		c.Reason, r.result.Ended = why, why
		return nil
	}
	c.File, c.Goal, c.Why = p.file, p.Goal, p.Why
	if p.Nothing {
		c.Outcome, c.Reason = Nothing, "the model sees nothing to improve: "+p.Why
		r.result.Ended = c.Reason
		return nil
	}
	r.Say(fmt.Sprintf("cycle %d: %s: %s", c.Number, p.file, p.Goal))
	before, err := r.Files.Read(p.file)
	if err != nil {
		return fmt.Errorf("read %s: %w", p.file, err)
	}
	after, why := r.implement(ctx, c, p, before)
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("implement: %w", err)
	}
	if why != "" {
		c.Reason, r.result.Ended = why, why
		return nil
	}
	c.Diff = unifiedDiff(p.file, before, after)
	return r.keepOrRevert(ctx, c, before, after)
}

// keepOrRevert evaluates a change on the copy and keeps or reverts it, also on errors.
func (r *run) keepOrRevert(ctx context.Context, c *Cycle, before, after File) (err error) {
	if err := r.Files.Write(c.File, after); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", c.File, err), r.Files.Write(c.File, before))
	}
	replayed, why, err := r.evaluate(ctx, c, before, after)
	if err == nil && why == "" {
		c.Outcome, c.Reason = Kept, c.Evaluation.String()
		r.replayed = replayed
		r.keep(c.File, before, after)
		return nil
	}
	if err := r.Files.Write(c.File, before); err != nil {
		return fmt.Errorf("take back the change of %s: %w", c.File, err)
	}
	if err != nil {
		return err
	}
	c.Outcome, c.Reason = Reverted, why
	return nil
}

func (r *run) keep(name string, before, after File) {
	for i := range r.result.Changes {
		if c := &r.result.Changes[i]; c.Name == name {
			c.After = after
			return
		}
	}
	r.result.Changes = append(r.result.Changes, Change{name, before, after})
}
