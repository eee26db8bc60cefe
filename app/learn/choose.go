package learn

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/technique"
)

// Learner decides which technique to try, and learns from outcomes. *[bandit.Learner] implements it. Its decisions must
// depend only on the outcomes that it observed, in that order, and on the request.
type Learner interface {
	Decide(bandit.Request) bandit.Decision
	Observe(...bandit.Outcome)
	Discount(factor float64)
	Trial(org, repo, technique string) bandit.Trial
}

// Chooser decides which technique the next attempt of a task uses. It is safe for concurrent use.
type Chooser struct {
	store   ChooserStore
	learner Learner
	setup   string
	now     func() time.Time
	replay  replay
	others  importCache
}

// NewChooser returns a chooser without any outcomes: it reads the recorded ones when it first observes. setup names the
// models and prompts in use, so that outcomes under others count for less.
func NewChooser(s ChooserStore, l Learner, setup string, now func() time.Time) *Chooser {
	return &Chooser{store: s, learner: l, setup: setup, now: now}
}

// Policies other than the learner's.
const policyUser = "person" // a user's choice, which is binding

// question is the input of a decision about a technique, as stored in the log: a learner that has seen the same
// outcomes gives the same answer to it.
type question struct {
	bandit.Diagnosis
	Pick       sia.TechniqueID     `json:"pick,omitempty"`   // the diagnosis's choice; empty: none
	Wanted     sia.TechniqueID     `json:"wanted,omitempty"` // a user's choice; empty: none
	Task       sia.TaskID          `json:"task"`
	Attempt    int                 `json:"attempt"` // techniques tried in the task before
	Left       int                 `json:"left"`    // approaches left, including this one
	Used       []sia.TechniqueID   `json:"used,omitempty"`
	Refused    []sia.TechniqueID   `json:"refused,omitempty"` // by the reviewer
	Candidates []questionCandidate `json:"candidates"`
	Trials     []sia.TechniqueID   `json:"trials,omitempty"`   // candidates that are on trial
	Language   string              `json:"language,omitempty"` // of the repository; empty: unknown
	byImport
	Setup   string `json:"setup"`   // the models and prompts in use
	Learned int    `json:"learned"` // outcomes that the learner had seen
}

// questionCandidate is a candidate in a question.
type questionCandidate struct {
	Technique sia.TechniqueID `json:"technique"`
	Rank      int             `json:"rank,omitempty"`
	Odds      float64         `json:"odds,omitempty"`
	Imported  bandit.Tally    `json:"imported,omitzero"` // outcomes in other installations
}

// questionOf returns the question of a logged decision about a technique.
func questionOf(d sia.Decision) (q question, err error) {
	if err := json.Unmarshal(d.Context, &q); err != nil {
		return q, fmt.Errorf("read decision %s: %w", d.ID, err)
	}
	return q, nil
}

// newQuestion returns the question of which technique a task's next attempt uses. A technique that a user requests is
// not on trial.
func (ch *Chooser) newQuestion(t sia.Task, language string, q diagnose.Choice, trials technique.Trials) question {
	by, others := ch.others.of(t.ID)
	a := question{
		Diagnosis: banditDiagnosis(t.Repo, q.Pattern, nil), Pick: q.Pick, Wanted: q.Wanted,
		Task: t.ID, Attempt: len(t.Interventions), Left: t.ApproachesLeft(), Used: t.UsedTechniques(), Refused: t.Refused,
		Setup: ch.setup, Language: language, byImport: by,
	}
	if q.Model {
		a.Confidence = modelConfidence(q)
	}
	for _, c := range q.Candidates {
		g := questionCandidate{Technique: c.Technique, Rank: c.Rank, Odds: c.Odds}
		if others != nil {
			g.Imported = bandit.Tally(others.Technique(language, string(q.Pattern), string(c.Technique)))
		}
		a.Candidates = append(a.Candidates, g)
		if slices.Contains(trials.Active, c.Technique) && c.Technique != q.Wanted {
			a.Trials = append(a.Trials, c.Technique)
		}
	}
	return a
}

// modelConfidence returns a model's statements about techniques: its ratings, and for an unrated pick its confidence in
// the diagnosis. nil: there are none.
func modelConfidence(q diagnose.Choice) map[string]float64 {
	said := map[string]float64{}
	if q.Pick != "" {
		said[string(q.Pick)] = q.Confidence
	}
	for id, chance := range q.Ratings {
		said[string(id)] = chance
	}
	if len(said) == 0 {
		return nil
	}
	return said
}

// banditDiagnosis returns a diagnosis for a learner. It identifies a repository by GitHub's id, which is unaffected by
// renames.
func banditDiagnosis(r sia.Repo, p sia.Pattern, confidence map[string]float64) bandit.Diagnosis {
	return bandit.Diagnosis{Org: r.Owner, Repo: strconv.FormatInt(r.ID, 10), Pattern: string(p), Confidence: confidence}
}

// decide answers the question by a policy; nil: the learner's own. If a user requested a technique it is the answer,
// and the learner supplies the evidence for and against it.
func (q question) decide(l Learner, by *bandit.Policy) bandit.Decision {
	r := bandit.Request{Diagnosis: q.Diagnosis, Task: string(q.Task), Attempt: q.Attempt, Left: q.Left, Policy: by}
	for _, ids := range [][]sia.TechniqueID{q.Used, q.Refused} {
		for _, id := range ids {
			r.Used = append(r.Used, string(id))
		}
	}
	for _, id := range q.Trials {
		r.Trials = append(r.Trials, string(id))
	}
	for _, c := range q.Candidates {
		r.Candidates = append(r.Candidates, bandit.Candidate{Technique: string(c.Technique), Rank: c.Rank, Odds: c.Odds,
			Imported: c.Imported})
	}
	d := l.Decide(r)
	if q.Wanted == "" {
		return d
	}
	d.Reason = fmt.Sprintf("A person asked for %s with /sia use, which is binding.", q.Wanted)
	if d.Options[0].Technique != string(q.Wanted) {
		d.Reason += fmt.Sprintf(" The evidence was for %s, with %.0f %%.", d.Options[0].Technique, 100*d.Options[0].Mean)
	}
	d.Choice, d.Propensity, d.Policy = string(q.Wanted), 1, policyUser
	for i := range d.Options {
		d.Options[i].Propensity = 0
		if d.Options[i].Technique == d.Choice {
			d.Options[i].Propensity = 1
		}
	}
	return d
}

// Choose decides by a policy which technique the next attempt uses; language is the language of the task's repository.
// The caller logs the decision before the diagnosis takes effect.
func (ch *Chooser) Choose(
	t sia.Task, language string, f sia.Effect, q diagnose.Choice, by bandit.Policy, trials technique.Trials,
) (diagnose.Chosen, error) {
	asked := ch.newQuestion(t, language, q, trials)
	d := asked.decide(ch.learner, &by)
	asked.Learned = d.Learned
	if trials.Said != "" {
		d.Reason += " " + trials.Said
	}
	context, err := json.Marshal(asked)
	if err != nil {
		return diagnose.Chosen{}, fmt.Errorf("encode the decision %s: %w", f.Key, err)
	}
	options, err := json.Marshal(d.Options)
	if err != nil {
		return diagnose.Chosen{}, fmt.Errorf("encode the decision %s: %w", f.Key, err)
	}
	return diagnose.Chosen{
		Technique: sia.TechniqueID(d.Choice), Candidates: evidence(q.Candidates, d.Options), Why: d.Reason,
		Decision: &sia.Decision{
			ID: f.Key, Task: t.ID, Repo: t.Repo.ID, Attempt: f.Attempt, Type: sia.DecideTechnique, Policy: d.Policy,
			Context: context, Options: options, Choice: d.Choice, Propensity: d.Propensity, Reason: d.Reason, At: ch.now(),
		},
	}, nil
}

// evidence sorts candidates in the learner's order and adds its statistics.
func evidence(cs []sia.Candidate, options []bandit.Option) []sia.Candidate {
	tally := func(t bandit.Tally) sia.Tally {
		return sia.Tally{Resolved: int(math.Round(t.Resolved)), Tried: int(math.Round(t.Tried))}
	}
	out := make([]sia.Candidate, 0, len(options))
	for _, o := range options {
		c := cs[slices.IndexFunc(cs, func(c sia.Candidate) bool { return string(c.Technique) == o.Technique })]
		here := tally(o.Here)
		c.Score, c.Expected, c.Low, c.High = o.Score, o.Mean, o.Low, o.High
		c.Resolved, c.Tried, c.Org, c.Elsewhere = here.Resolved, here.Tried, tally(o.Org), tally(o.Elsewhere)
		out = append(out, c)
	}
	return out
}

// Candidates returns the techniques that could be tried on a pattern, in the learner's order: those listed for it, and
// any other that has resolved it.
func (ch *Chooser) Candidates(
	trials technique.Trials, t sia.Task, language string, p sia.Pattern, by bandit.Policy,
) []sia.Candidate {
	library := trials.Library
	listed := library.Candidates(t, p)
	all := slices.Clone(listed)
	for _, k := range library.All() {
		if !slices.ContainsFunc(all, func(c sia.Candidate) bool { return c.Technique == k.ID }) {
			all = append(all, sia.Candidate{Technique: k.ID,
				Reason: fmt.Sprintf("not listed for %s, but it has resolved it", p)})
		}
	}
	known := evidence(all, ch.newQuestion(t, language, diagnose.Choice{Pattern: p, Candidates: all}, trials).
		decide(ch.learner, &by).Options)
	return slices.DeleteFunc(known, func(c sia.Candidate) bool {
		unlisted := !slices.ContainsFunc(listed, func(l sia.Candidate) bool { return l.Technique == c.Technique })
		return unlisted && c.Resolved+c.Org.Resolved+c.Elsewhere.Resolved == 0
	})
}
