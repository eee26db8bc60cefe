package year

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/trial"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
)

// Spec configures a year.
type Spec struct {
	Seed      uint64
	Days      int     // 365
	Repos     int     // 10
	PerDay    int     // tasks that begin on a day, in all repositories together
	Good      float64 // share of proposals that are better, by 3–8 points
	Harmful   float64 // share that are worse, by 5–20 points; the rest makes no difference
	TurnsBad  float64 // share of the good ones that fall by 25 points some time after their promotion
	Decisions []policies.Type
}

// Default is the reported year.
func Default(seed uint64) Spec {
	return Spec{Seed: seed, Days: 365, Repos: 10, PerDay: 30, Good: .15, Harmful: .15, TurnsBad: .1,
		Decisions: policies.Types()}
}

// Result is the result of a year.
type Result struct {
	Tasks    int     `json:"tasks"`
	With     float64 `json:"with"`  // share of resolved tasks, 0–1
	Fixed    float64 `json:"fixed"` // the same tasks without the changes
	Last     float64 `json:"last_quarter_with"`
	LastFix  float64 `json:"last_quarter_fixed"`
	Proposed int     `json:"proposed"`
	Ended    Ended   `json:"ended"`
	// changes in force at the end with a true effect below zero
	HarmLeft int `json:"harm_in_force_at_the_end"`
	// promoted changes that did harm or turned bad, and the number of their tasks during that
	Harmed []int `json:"tasks_under_each_harmful_promotion"`
	Steps  int   `json:"steps"` // explained steps
}

// Ended counts changes by their end and by their true effect.
type Ended struct {
	PromotedGood    int `json:"promoted_good"`
	PromotedNull    int `json:"promoted_null"`
	PromotedHarmful int `json:"promoted_harmful"`
	StoppedGood     int `json:"stopped_good"`
	StoppedNull     int `json:"stopped_null"`
	StoppedHarmful  int `json:"stopped_harmful"`
	RolledBack      int `json:"rolled_back"`
	RolledBackWell  int `json:"rolled_back_though_not_harmful"`
	Running         int `json:"running"`
}

const (
	installation = 1
	owner        = "acme"
	placeID      = 1000
	day          = 24 * time.Hour
)

// world is the simulated installation.
type world struct {
	Spec
	dice   *rand.Rand
	now    time.Time
	rates  []float64 // of each repository
	tasks  map[sia.TaskID]sia.Task
	effect map[string]float64   // version of a policy → points over the shipped one's, as a share
	spoilt map[string]time.Time // version → when it turns bad
	own    map[string]policies.Policy
	ended  []done
	truth  map[string]float64 // candidate's version → its own effect over the version before it
	under  map[string]int     // version → its tasks while it did harm after its promotion
	forge  forge
}

// done is an ended task, visible to the author.
type done struct {
	at       time.Time
	resolved bool
}

// Play plays a year on an empty database. open opens it with the year's clock; the
// caller closes it.
func Play(ctx context.Context, spec Spec, open func(now func() time.Time) (*store.Store, error)) (Result, error) {
	w := &world{Spec: spec, dice: rand.New(rand.NewPCG(spec.Seed, 14)), now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC),
		tasks: map[sia.TaskID]sia.Task{}, effect: map[string]float64{}, spoilt: map[string]time.Time{},
		own: map[string]policies.Policy{}, truth: map[string]float64{}, under: map[string]int{}}
	w.forge = newForge(w)
	s, err := open(func() time.Time { return w.now })
	if err != nil {
		return Result{}, err
	}
	err = s.UpsertInstallation(ctx, store.Installation{ID: installation, Account: owner})
	for i := range spec.Repos {
		w.rates = append(w.rates, .35+.3*w.dice.Float64())
		err = errors.Join(err,
			s.UpsertRepository(ctx, store.Repository{Repo: w.repo(i), Installation: installation, DefaultBranch: "main"}))
	}
	err = errors.Join(err, s.UpsertRepository(ctx, store.Repository{
		Repo:         sia.Repo{ID: placeID, Owner: owner, Name: sia.OwnersRepo},
		Installation: installation, DefaultBranch: "main"}))
	if err != nil {
		return Result{}, err
	}
	e, err := trial.New(trial.Deps{Store: s, Tasks: w, Settings: w, Forge: &w.forge, Author: w, Log: w,
		Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return w.now }})
	if err != nil {
		return Result{}, err
	}
	return w.play(ctx, s, e)
}

func (w *world) repo(i int) sia.Repo {
	return sia.Repo{ID: int64(i + 1), Owner: owner, Name: fmt.Sprint("repo", i+1)}
}

func (w *world) play(ctx context.Context, s *store.Store, e *trial.Evolver) (r Result, err error) {
	var with, fixed, late, lateFixed, lateTasks int
	for d := range w.Days {
		for n := range w.PerDay {
			w.now = w.now.Add(day / time.Duration(w.PerDay))
			won, plain, err := w.task(ctx, e, d*w.PerDay+n)
			if err != nil {
				return r, err
			}
			r.Tasks++
			with, fixed = with+won, fixed+plain
			if d >= w.Days*3/4 {
				late, lateFixed, lateTasks = late+won, lateFixed+plain, lateTasks+1
			}
		}
		if err := e.Evolve(ctx); err != nil {
			return r, err
		}
	}
	share := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
	r.With, r.Fixed = share(with, r.Tasks), share(fixed, r.Tasks)
	r.Last, r.LastFix = share(late, lateTasks), share(lateFixed, lateTasks)
	return r, w.count(ctx, s, &r)
}

// task plays one task; won and plain are 1 if it is resolved with the changes, and without them.
func (w *world) task(ctx context.Context, e *trial.Evolver, n int) (won, plain int, err error) {
	i := w.dice.IntN(w.Repos)
	repo := w.repo(i)
	t := sia.Task{ID: sia.NewTaskID(repo.ID, n+1), Repo: repo, Installation: installation, CreatedAt: w.now,
		State: sia.Working, Since: w.now}
	set, err := w.Policies(ctx, installation, repo)
	if err != nil {
		return 0, 0, err
	}
	rate := w.rates[i]
	for _, typ := range w.Decisions {
		p, err := e.For(ctx, t, typ, set, policies.Context{Owner: owner, Repository: repo.String()})
		if err != nil {
			return 0, 0, err
		}
		effect := w.effectOf(p.ID())
		if w.harmful(p.ID()) && w.forge.inForce[p.ID()] {
			w.under[p.ID()]++
		}
		rate += effect
	}
	luck := w.dice.Float64()
	if luck < min(.95, max(.05, rate)) {
		won = 1
	}
	if luck < w.rates[i] {
		plain = 1
	}
	t.Since = w.now.Add(time.Duration(w.dice.Float64() * float64(day)))
	t.State = sia.Escalated
	t.Escalation = &sia.Escalation{Kind: sia.AskIssue}
	t.Credits.Spent = sia.Credits(1000 + w.dice.IntN(4000))
	if won == 1 {
		t.State, t.Escalation = sia.Passed, nil
	}
	w.tasks[t.ID] = t
	w.ended = append(w.ended, done{t.Since, won == 1})
	return won, plain, nil
}

// effectOf returns a version's present effect on the rate.
func (w *world) effectOf(id string) float64 {
	e := w.effect[id]
	if at, bad := w.spoilt[id]; bad && w.now.After(at) {
		e -= .25
	}
	return e
}

// harmful reports whether a version is now worse than the one before it.
func (w *world) harmful(id string) bool {
	at, bad := w.spoilt[id]
	return w.truth[id] < 0 || bad && w.now.After(at)
}

// count counts the changes by their end.
func (w *world) count(ctx context.Context, s *store.Store, r *Result) error {
	xs, err := s.Experiments(ctx, installation, false)
	if err != nil {
		return err
	}
	for _, x := range xs {
		r.Proposed++
		events, err := s.ExperimentEvents(ctx, x.ID)
		if err != nil {
			return err
		}
		for _, v := range events {
			if v.What == "" {
				return fmt.Errorf("experiment %s was %s without a reason", x.ID, v.Phase)
			}
			r.Steps++
		}
		truth := w.truth[x.Candidate]
		by := func(good, null, bad *int) {
			switch {
			case truth > 0:
				*good++
			case truth < 0:
				*bad++
			default:
				*null++
			}
		}
		if !x.PromotedAt.IsZero() {
			by(&r.Ended.PromotedGood, &r.Ended.PromotedNull, &r.Ended.PromotedHarmful)
		}
		switch {
		case x.Phase == store.ExperimentStopped || x.Phase == store.ExperimentRejected:
			by(&r.Ended.StoppedGood, &r.Ended.StoppedNull, &r.Ended.StoppedHarmful)
		case x.Phase == store.ExperimentRolledBack || x.Phase == store.ExperimentReverting:
			r.Ended.RolledBack++
			if !w.harmful(x.Candidate) {
				r.Ended.RolledBackWell++
			}
		case x.Phase == store.ExperimentPromoted && w.harmful(x.Candidate):
			r.HarmLeft++
		case x.PromotedAt.IsZero():
			r.Ended.Running++
		}
	}
	for _, n := range w.under {
		r.Harmed = append(r.Harmed, n)
	}
	slices.Sort(r.Harmed)
	return nil
}
