package replay

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun"
)

// Stage is a task prepared for a [Loop].
type Stage struct {
	Task
	Dir  string // a repository of one commit, with the files of the task's parent
	Base string // that commit
	// Check runs the task's tests on the files that lay writes to a new folder. Calls must not be
	// concurrent.
	Check func(ctx context.Context, lay func(dir string) error) (Judgement, error)
}

// Loop works on a task until its tests pass or nothing is left to try, as SIA works on an issue. Its result is
// whether it resolved the task, the reason, the cost, the number of attempts, and the changed files. An error says
// nothing about the task, as for [Player.Play].
type Loop func(ctx context.Context, s Stage) (Result, error)

// PlayLoop runs a loop on a task. The tests are the loop's check: it gets only their output, like the
// log of a failed check, and nothing else of the commit.
func (p *Player) PlayLoop(ctx context.Context, t Task, variant string, seed int, loop Loop) (Result, error) {
	began := p.Now()
	out, err := p.loop(ctx, t, loop)
	out.Task, out.Variant, out.Seed, out.Files = t.ID, variant, seed, append([]string{}, out.Files...)
	out.At, out.Seconds = p.Now().UTC().Truncate(time.Second), p.Now().Sub(began).Seconds()
	if err != nil {
		return out, fmt.Errorf("play task %s: %w", t.ID, err)
	}
	return out, nil
}

func (p *Player) loop(ctx context.Context, t Task, loop Loop) (Result, error) {
	e, err := endsOf(ctx, p.runner, t)
	if err != nil {
		return Result{}, err
	}
	parent, err := p.History.Files(ctx, t.Parent)
	if err != nil {
		return Result{}, err
	}
	dir, done, err := p.folder(ctx)
	if err != nil {
		return Result{}, err
	}
	defer done()
	work := testrun.NewWorkTree(filepath.Join(dir, "repository"), p.History)
	base, err := p.begin(ctx, t, work, parent)
	if err != nil {
		return Result{}, err
	}
	judged := testrun.NewWorkTree(filepath.Join(dir, "tree"), p.History)
	check := func(ctx context.Context, lay func(dir string) error) (Judgement, error) {
		if err := errors.Join(sandbox.RemoveAll(judged.Dir), lay(judged.Dir)); err != nil {
			return Judgement{}, err
		}
		return p.run(ctx, t, e, judged)
	}
	return loop(ctx, Stage{Task: t, Dir: work.Dir, Base: base, Check: check})
}

// Duels counts the tasks that the loop resolved by one policy alone: won by the candidate, lost by the present one.
// It compares runs with the same models and otherwise the same policies. The majority of several runs of a task
// decides.
func Duels(runs []Result, present, candidate string) (won, lost int) {
	type of struct{ task, rest string }
	balance := map[of][2]int{} // resolved minus unresolved runs, of the present policy and of the candidate
	played := map[of][2]bool{}
	for _, r := range runs {
		with := 0
		switch {
		case slices.Contains(r.Policies, candidate):
			with = 1
		case !slices.Contains(r.Policies, present):
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(r.Policies), func(id string) bool { return id == present || id == candidate })
		k := of{r.Task, fmt.Sprintf("%q %q", r.Models, rest)}
		b, p := balance[k], played[k]
		p[with] = true
		if r.Resolved {
			b[with]++
		} else {
			b[with]--
		}
		balance[k], played[k] = b, p
	}
	counted := map[string]int{} // by task: the sum over its groups
	for k, b := range balance {
		if !played[k][0] || !played[k][1] {
			continue
		}
		switch was, now := b[0] > 0, b[1] > 0; {
		case now && !was:
			counted[k.task]++
		case was && !now:
			counted[k.task]--
		}
	}
	for _, n := range counted {
		switch {
		case n > 0:
			won++
		case n < 0:
			lost++
		}
	}
	return won, lost
}

// DuelsIn returns a function that counts the tasks replayed in a repository, as [Duels] does. Its folder is below data;
// without one, there are none.
func DuelsIn(data string) func(repo, present, candidate string) (won, lost int, err error) {
	return func(repo, present, candidate string) (won, lost int, err error) {
		runs, err := folderOf(data, repo).Runs()
		if err != nil {
			return 0, 0, err
		}
		won, lost = Duels(runs, present, candidate)
		return won, lost, nil
	}
}
