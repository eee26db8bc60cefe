package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/replay"
	"github.com/sia-bot/sia/sia/lesson"
)

type lessonsProveCmd struct {
	playFlags `embed:""`
	Coder     string `help:"Which of the configured coders; default: the first." placeholder:"NAME"`
	Tasks     int    `help:"Play so many tasks, those first that fit the lesson best: 2 to 100. Fewer than 5 can settle nothing." default:"5" placeholder:"N" min:"2" max:"100"`
	Lesson    string `arg:"" help:"Its id."`
}

// Help returns the text of `sia lessons prove --help` below the first line.
func (*lessonsProveCmd) Help() string {
	return fmt.Sprintf("Tasks come from `sia replay mine`. Each is played without the lesson, with it, and both once "+
		"more, and all of that three times: %d attempts a task, each of which costs at most --credits. What comes of it "+
		"counts as evidence about the lesson, as much as a person's word, where the whole interval of the difference is on "+
		"one side; it takes the place of what an earlier proof of the lesson counted. A proof that was ended takes up the "+
		"attempts that were made when it is begun again within a week.", lesson.ProofRuns)
}

const (
	minPlayedTasks    = 2                  // minimum number of tasks of a proof
	proofResumeWindow = 7 * 24 * time.Hour // how long the attempts of an interrupted proof can be reused
)

// provedLesson is the JSON of sia lessons prove. Fields are only added.
type provedLesson struct {
	Repo     string          `json:"repo"`
	Lesson   lesson.ID       `json:"lesson"`
	Coder    string          `json:"coder"`
	Tasks    []string        `json:"tasks"` // ids, best fit first
	Told     tally           `json:"told"`
	Untold   tally           `json:"untold"`
	Points   float64         `json:"points"` // increase of the pass rate with the lesson, in percentage points
	Low      float64         `json:"low"`    // of the 90 % interval
	High     float64         `json:"high"`
	TakenUp  int             `json:"taken_up"` // attempts from an earlier call
	Credits  float64         `json:"credits"`  // of all attempts
	Evidence lesson.Evidence `json:"evidence"` // as it was recorded
}

// tally counts attempts.
type tally struct {
	Runs   int `json:"runs"`
	Passed int `json:"passed"`
}

// Run proves a lesson.
func (c *lessonsProveCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *replay.Source) error {
		return openedDatabase{databaseFlags: c.databaseFlags}.with(e, func(st *store.Store) error {
			return c.prove(e, s, st)
		})
	})
}

func (c *lessonsProveCmd) prove(e *cli.Env, s *replay.Source, st *store.Store) error {
	repo, err := knownRepository(e, st, s.Name)
	if err != nil {
		return fmt.Errorf("%w. A clone belongs to the repository that its origin names", err)
	}
	l, err := st.Lesson(e.Ctx, repo.ID, lesson.ID(c.Lesson))
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("there is no lesson %q in %s; `sia lessons list --all` shows them all", c.Lesson, s.Name)
	}
	if err == nil {
		err = checkProvable(l)
	}
	if err != nil {
		return err
	}
	tasks, err := c.fitting(e, s, l)
	if err != nil {
		return err
	}
	before, err := st.LessonEvidence(e.Ctx, repo.ID, l.ID)
	if err != nil {
		return err
	}
	p, err := c.prover(e, s, l, tasks, before)
	if err != nil {
		return err
	}
	proof, err := lesson.Prove(e.Ctx, l.ID, p.ids(), p.play)
	if err != nil {
		return fmt.Errorf("%w; the attempts that were made are kept, and the same command takes them up", err)
	}
	evidence := proof.Evidence(time.Now())
	if err := st.ReplaceEvidence(e.Ctx, repo.ID, evidence); err != nil {
		return err
	}
	return c.show(e, st, repo.ID, p.report(proof, evidence))
}

// checkProvable returns an error with the reason if a lesson can't be proved.
func checkProvable(l lesson.Lesson) error {
	switch {
	case l.State == lesson.Forgotten:
		return fmt.Errorf("lesson %s was forgotten for good", l.ID)
	case l.State == lesson.Merged:
		return fmt.Errorf("lesson %s was merged into %s; prove that one", l.ID, l.Into)
	}
	return nil
}

// fitting returns the tasks to play, first those that share most words with the lesson. The issue that taught the
// lesson is left out, since it would only show that the lesson remembers it.
func (c *lessonsProveCmd) fitting(e *cli.Env, s *replay.Source, l lesson.Lesson) (tasks []replay.Task, err error) {
	if tasks, err = s.Tasks(e.Ctx); err != nil {
		return nil, err
	}
	tasks = slices.DeleteFunc(tasks, func(t replay.Task) bool { return t.Issue != 0 && t.Issue == l.From.Issue })
	if len(tasks) < minPlayedTasks {
		return nil, fmt.Errorf("a proof plays at least %d tasks, and %s has %d that didn't teach the lesson; look for some "+
			"with `sia replay mine --repo %s`", minPlayedTasks, s.Name, len(tasks), c.Repo)
	}
	shared := map[string]int{}
	for _, t := range tasks {
		shared[t.ID] = l.SharedWords(t.Title + "\n" + t.Text)
	}
	slices.SortStableFunc(tasks, func(a, b replay.Task) int { return cmp.Compare(shared[b.ID], shared[a.ID]) })
	return tasks[:min(c.Tasks, len(tasks))], nil
}

// prover plays the tasks for one lesson, prints each attempt as it ends, and logs it.
type prover struct {
	e        *cli.Env
	source   *replay.Source
	player   *replay.Player
	tasks    []replay.Task
	variants map[bool]replay.Variant // true: with the lesson
	earlier  []replay.Result         // attempts of this proof from an earlier call, oldest first
	n        int                     // attempts, including reused ones
	takenUp  int
	credits  float64
}

func (c *lessonsProveCmd) prover(
	e *cli.Env, s *replay.Source, l lesson.Lesson, tasks []replay.Task, before []lesson.Evidence,
) (*prover, error) {
	player, err := c.player(e, s)
	if err != nil {
		return nil, err
	}
	coder := cmp.Or(c.Coder, player.Coders[0].Name)
	told := replay.Variant{Name: fmt.Sprintf("%s + lesson %s", coder, l.ID), Coder: coder, Lessons: []string{l.Told()}}
	if hint := l.Test(); hint != "" {
		told.TestHints = []string{hint}
	}
	untold := replay.Variant{Name: fmt.Sprintf("%s without lesson %s", coder, l.ID), Coder: coder}
	if err := player.Check(told); err != nil {
		return nil, err
	}
	p := &prover{e: e, source: s, player: player, tasks: tasks,
		variants: map[bool]replay.Variant{true: told, false: untold}}
	since := time.Now().Add(-proofResumeWindow)
	for _, ev := range before {
		if ev.Arm == lesson.Replayed && ev.At.After(since) {
			since = ev.At
		}
	}
	runs, err := s.Folder.Runs()
	if err != nil {
		return nil, err
	}
	p.earlier = slices.DeleteFunc(runs, func(r replay.Result) bool { return !r.At.After(since) })
	return p, nil
}

func (p *prover) ids() (ids []string) {
	for _, t := range p.tasks {
		ids = append(ids, t.ID)
	}
	return ids
}

// play is a [lesson.Play].
func (p *prover) play(ctx context.Context, id string, with bool, seed uint64) (passed bool, err error) {
	v := p.variants[with]
	r, known := p.takeUp(id, v.Name, int(seed))
	if !known {
		t := p.tasks[slices.IndexFunc(p.tasks, func(t replay.Task) bool { return t.ID == id })]
		if r, err = p.player.Play(ctx, t, v, int(seed)); err != nil {
			return false, err
		}
		if err := p.source.Folder.AppendRun(r); err != nil {
			return false, err
		}
	}
	p.n++
	p.credits += r.Cost
	how := runText(r)
	if known {
		p.takenUp++
		how = "taken up: " + how
	}
	p.e.Progressf("%d/%d  %s  %s  %s", p.n, len(p.tasks)*lesson.ProofRuns, r.Task, v.Name, how)
	return r.Resolved, nil
}

// takeUp removes the oldest matching earlier attempt and returns it.
func (p *prover) takeUp(task, variant string, seed int) (replay.Result, bool) {
	i := slices.IndexFunc(p.earlier, func(r replay.Result) bool {
		return r.Task == task && r.Variant == variant && r.Seed == seed
	})
	if i < 0 {
		return replay.Result{}, false
	}
	r := p.earlier[i]
	p.earlier = slices.Delete(p.earlier, i, i+1)
	return r, true
}

func (p *prover) report(proof lesson.Proof, evidence lesson.Evidence) provedLesson {
	return provedLesson{Repo: p.source.Name, Lesson: proof.Lesson, Coder: p.variants[true].Coder, Tasks: p.ids(),
		Told: tally{proof.Told, proof.ToldPassed}, Untold: tally{proof.Untold, proof.UntoldPassed},
		Points: proof.Points, Low: proof.Low, High: proof.High,
		TakenUp: p.takenUp, Credits: p.credits, Evidence: evidence}
}

// show prints the result of a proof, and the lesson's new state.
func (c *lessonsProveCmd) show(e *cli.Env, st *store.Store, repo int64, out provedLesson) error {
	if c.Output == "json" {
		return e.JSON(out)
	}
	l, err := st.Lesson(e.Ctx, repo, out.Lesson)
	if err != nil {
		return err
	}
	e.Linef("%s  %s\n%s", e.Style.Bold(string(l.ID)), l.Told(), out.Evidence.Why)
	switch {
	case out.Evidence.Good > 0:
		e.Linef("That counts %.3g for the lesson.", out.Evidence.Good)
	case out.Evidence.Bad > 0:
		e.Linef("That counts %.3g against the lesson.", out.Evidence.Bad)
	case len(out.Tasks) < lesson.MinProofTasks:
		e.Linef("That counts neither for nor against the lesson: it takes %d tasks to settle anything.",
			lesson.MinProofTasks)
	default:
		e.Linef("That counts neither for nor against the lesson: it may be chance. More --tasks would tell better.")
	}
	return e.Sayf("It is %s, with a confidence of %.2f. The attempts cost %.2f credits.\n", l.State,
		l.Confidence(time.Now()), out.Credits)
}
