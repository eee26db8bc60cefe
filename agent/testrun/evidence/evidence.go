package evidence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// Spec describes a change to check. All fields except Within, Now and Begins are required.
type Spec struct {
	History *gitops.History
	Runner  *testrun.Runner
	Dir     string // folder for work trees and cached results; not for concurrent use
	Base    string // commit
	Head    string // commit
	Within  time.Duration
	Now     func() time.Time
	Begins  func(step string) // called before each step with a description for users; may be nil
}

// defaultTimeout is the default of Spec.Within.
const defaultTimeout = 10 * time.Minute

// Look runs the tests that a change can reach. An error means that the result is unknown: the sandbox does not work, or
// ctx has ended.
func Look(ctx context.Context, s Spec) (sia.TestEvidence, error) {
	out := sia.TestEvidence{Head: sia.SHA(s.Head), Base: sia.SHA(s.Base)}
	l, why, err := newLook(ctx, s, &out)
	if err != nil || why != "" {
		out.NotRun = why
		return out, err
	}
	for _, lang := range testrun.Languages() {
		if err := l.lookAt(ctx, lang); err != nil {
			return out, fmt.Errorf("look at tests: %w", err)
		}
	}
	if err := l.cache.prune(); err != nil {
		return out, fmt.Errorf("look at tests: %w", err)
	}
	l.finish()
	return out, nil
}

// look is one call of Look.
type look struct {
	Spec
	change   change
	folders  folders
	cache    resultCache
	deadline time.Time
	out      *sia.TestEvidence
}

// newLook reads the change. why is the reason if it can't be checked.
func newLook(ctx context.Context, s Spec, out *sia.TestEvidence) (l *look, why string, err error) {
	if s.History == nil || s.Runner == nil || s.Dir == "" || s.Base == "" || s.Head == "" {
		return nil, "", errors.New("look at tests: history, runner, folder, base and head have to be given")
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Begins == nil {
		s.Begins = func(string) {}
	}
	l = &look{Spec: s, out: out, deadline: s.Now().Add(cmp.Or(s.Within, defaultTimeout)),
		folders: newFolders(filepath.Join(s.Dir, "trees"), s.History), cache: newResultCache(filepath.Join(s.Dir, "results"))}
	l.change, why, err = readChange(ctx, s.History, s.Base, s.Head)
	switch {
	case errors.Is(err, gitops.ErrMissing), errors.Is(err, gitops.ErrTree), errors.Is(err, gitops.ErrTooLarge):
		return nil, "the repository can't be laid out: " + err.Error(), nil
	case err != nil:
		return nil, "", fmt.Errorf("look at tests: %w", err)
	}
	s.Runner.Base = &testrun.Tree{At: l.folders[atBase], Files: l.change.trees[atBase]}
	s.Runner.Head = l.change.trees[atHead]
	return l, why, nil
}

// lookAt checks the tests of one language, if the change can reach any.
func (l *look) lookAt(ctx context.Context, lang testrun.Language) error {
	found, err := l.reach(ctx, lang)
	if err != nil || len(found.groups) == 0 {
		return err
	}
	if !l.Runner.Has(lang.Program()) {
		l.omit("%s tests: `%s` is not on this machine", lang.Name(), lang.Program())
		return nil
	}
	p := newPass(l, lang, found)
	p.overlaid = l.change.overlay(found.isTest)
	if err := p.runAll(ctx); err != nil {
		return err
	}
	if p.ran {
		l.out.Language = strings.TrimPrefix(l.out.Language+", "+lang.Name(), ", ")
	}
	return nil
}

// omit records an omission.
func (l *look) omit(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); len(l.out.Left) < sia.MaxEvidence && !slices.Contains(l.out.Left, s) {
		l.out.Left = append(l.out.Left, agent.ClipName(s))
	}
}

// timeLeft reports whether another batch may start.
func (l *look) timeLeft() bool { return l.Now().Before(l.deadline) }

// finish truncates the findings, and sets NotRun if no tests were run.
func (l *look) finish() {
	o := l.out
	cut := 0
	for _, list := range []*[]string{&o.Early, &o.Hushed, &o.Red, &o.Gone, &o.Dropped, &o.Broken, &o.Edited, &o.Differs,
		&o.Failing, &o.Files} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
		if more := len(*list) - sia.MaxEvidence; more > 0 {
			*list = (*list)[:sia.MaxEvidence]
			if list != &o.Files && list != &o.Failing { // the others are judged by their text
				cut += more
			}
		}
		for i, s := range *list {
			(*list)[i] = agent.ClipName(s)
		}
	}
	if cut > 0 {
		l.omit("%d more of the tests and groups that these runs say something of", cut)
	}
	switch {
	case o.Language == "" && len(o.Left) > 0:
		o.NotRun = "no test that the change can reach could be run: " + o.Left[0]
	case o.Language == "":
		o.NotRun = "the change reaches no test that SIA knows how to run"
	case len(o.Edited) > 0:
	case o.Tests == 0 && len(o.Left) > 0: // it names the commit
		o.NotRun = "no test that the change can reach could be compared: " + o.Left[0]
	case o.Tests == 0:
		o.NotRun = "no test that the change can reach passes on the base commit here"
	}
}
