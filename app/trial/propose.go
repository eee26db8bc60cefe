package trial

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/sia"
)

const (
	// recordPeriod is the period of the outcomes that decide whether a policy has room for improvement.
	recordPeriod = 60 * 24 * time.Hour
	// maxAsksPerRound is the maximum number of an installation's policies for which an author is asked per round.
	maxAsksPerRound = 2
)

// subject is a policy that may be changed, and the place of its changes.
type subject struct {
	installation int64
	policy       policies.Policy
	place        sia.Repo // contains the policy's file, or will
	layer        policies.Layer
	alone        bool // it applies only to tasks of place
}

// file returns the path of the policy's file: the existing one, or a new one in the policies folder.
func (s subject) file() string {
	return cmp.Or(s.policy.Path, path.Join(policies.Dir, s.policy.Name+".yml"))
}

// proposeIn proposes changes of an installation's policies that have room for improvement.
func (e *Evolver) proposeIn(ctx context.Context, in store.Installation, ask *askTime) error {
	if e.Author == nil {
		return nil
	}
	subjects, err := e.subjects(ctx, in)
	if err != nil {
		return err
	}
	var all []error
	asked := 0
	for _, s := range subjects {
		if asked == maxAsksPerRound || !ask.isLeft(ctx) {
			break
		}
		why, err := e.proposalBlocker(ctx, s)
		if why != "" {
			e.Logger.DebugContext(ctx, "no change of a policy is proposed", "policy", s.policy.Name,
				"place", s.place.String(), "why", why)
			continue
		}
		if err == nil {
			asked++
			began := time.Now()
			err = e.requestChanges(ctx, s)
			ask.took(began)
		}
		if err != nil {
			all = append(all, fmt.Errorf("policy %s: %w", s.policy.Name, err))
		}
	}
	return errors.Join(all...)
}

// subjects returns the policies of an installation that decide for some repository. They rotate daily: the list begins
// after those of yesterday.
func (e *Evolver) subjects(ctx context.Context, in store.Installation) ([]subject, error) {
	repos, err := e.Store.Repositories(ctx, in.ID)
	if err != nil || len(repos) == 0 {
		return nil, err
	}
	var out []subject
	seen := map[string]bool{}
	for _, r := range repos {
		set, err := e.Settings.Policies(ctx, in.ID, r.Repo)
		if err != nil {
			return nil, err
		}
		for _, p := range set.All() {
			s, err := e.subjectOf(ctx, in.ID, r.Repo, p)
			if err != nil {
				return nil, err
			}
			key := fmt.Sprint(s.place.ID, p.Decision, p.Name, p.ID())
			if seen[key] || s.place.ID == 0 || isOverridden(set, p) {
				continue
			}
			seen[key] = true
			out = append(out, s)
		}
	}
	first := maxAsksPerRound * e.today() % max(1, len(out))
	return slices.Concat(out[first:], out[:first]), nil
}

// isOverridden reports whether a higher layer has a policy of the same name and type.
func isOverridden(set *policies.Set, p policies.Policy) bool {
	return slices.ContainsFunc(set.All(), func(q policies.Policy) bool {
		return q.Decision == p.Decision && q.Name == p.Name && q.Layer > p.Layer
	})
}

// subjectOf returns the place for changes of a policy in force in a repository: its present place. A shipped policy is
// changed in the owner's repository for policies, or, if the owner has none, in the repository itself and only for its
// tasks.
func (e *Evolver) subjectOf(ctx context.Context, installation int64, r sia.Repo, p policies.Policy) (subject, error) {
	s := subject{installation: installation, policy: p, place: r, layer: policies.Repository, alone: true}
	if p.Layer == policies.Repository {
		return s, nil
	}
	owners, err := e.Store.RepositoryNamed(ctx, installation, sia.OwnersRepo)
	switch {
	case errors.Is(err, store.ErrNotFound) && p.Layer == policies.Shipped:
		return s, nil
	case err != nil:
		return subject{}, err
	}
	return subject{installation: installation, policy: p, place: owners.Repo, layer: policies.Owner}, nil
}

// matches reports whether an experiment concerns the policy.
func (s subject) matches(x store.Experiment) bool {
	return x.Installation == s.installation && x.Place.ID == s.place.ID && x.Decision == string(s.policy.Decision) &&
		x.Name == s.policy.Name
}

// proposalBlocker returns why a policy is not to be changed automatically now; "" if it may be.
func (e *Evolver) proposalBlocker(ctx context.Context, s subject) (string, error) {
	set, err := e.Settings.Settings(ctx, s.installation, s.place)
	if err != nil {
		return "", err
	}
	if set.Policies.Autonomy == sia.AutonomyOff {
		return "policies.autonomy says that none are to be proposed", nil
	}
	if why, err := e.changeBlocker(ctx, s); why != "" || err != nil {
		return why, err
	}
	past, err := e.Store.Experiments(ctx, s.installation, false)
	if err != nil {
		return "", err
	}
	now := e.Now()
	for _, x := range past { // the next one would fail likewise
		if s.matches(x) && strings.HasPrefix(x.Why, notOpenedPrefix) && now.Sub(x.EndedAt) < freezePeriod {
			return x.Why, nil
		}
	}
	var repo int64
	if s.alone {
		repo = s.place.ID
	}
	record, err := e.Log.Record(ctx, s.installation, repo, s.policy.ID(), now.Add(-recordPeriod))
	switch {
	case err != nil:
		return "", err
	case record.Since.IsZero():
		return "it has decided about no task yet", nil
	case s.policy.Layer != policies.Shipped && now.Sub(record.Since) < freezePeriod:
		return "it was changed less than 14 days ago", nil
	case !evolve.Room(record.Passed, record.Ended):
		return fmt.Sprintf("%d of %d tasks of the last 60 days were resolved: that is too few tasks, or good enough",
			record.Passed, record.Ended), nil
	}
	return "", nil
}

// changeBlocker returns why a policy can't be changed now, not even by a user; "" if it can.
func (e *Evolver) changeBlocker(ctx context.Context, s subject) (string, error) {
	now := e.Now()
	holds, err := e.Store.PolicyHolds(ctx, s.installation)
	if err != nil {
		return "", err
	}
	for _, h := range holds {
		switch {
		case h.Place != s.place.ID || h.Decision != string(s.policy.Decision) || h.Name != s.policy.Name:
		case h.Until.After(now):
			return fmt.Sprintf("it is frozen until %s: %s", h.Until.UTC().Format(time.DateOnly), h.Why), nil
		case h.Bad == s.policy.ID():
			return fmt.Sprintf("its file has a version that was taken back (%s); put the file back first", h.Why), nil
		}
	}
	past, err := e.Store.Experiments(ctx, s.installation, false)
	if err != nil {
		return "", err
	}
	for _, x := range past {
		switch {
		case !s.matches(x):
		case x.Phase.Open() && x.Phase != store.ExperimentPromoted:
			return fmt.Sprintf("the change %s of it is %s", x.ID, x.Phase), nil
		case !x.PromotedAt.IsZero() && now.Sub(x.PromotedAt) < freezePeriod:
			return "it was changed less than 14 days ago", nil
		}
	}
	return "", nil
}

// reasonOther is the reason why a proposed change was kept and not tried, which says nothing against it.
const reasonOther = "another change of the policy was tried first; it may be proposed again"

// requestChanges requests changes of a policy from the author, and drafts the first that passes the gate. It keeps
// those after it for the next proposal.
func (e *Evolver) requestChanges(ctx context.Context, s subject) error {
	m, err := e.material(ctx, s)
	if err != nil {
		return err
	}
	changes, err := e.Author.Propose(ctx, m, func(c policies.Mutation) error {
		i := slices.IndexFunc(m.Rejected, func(r Rejected) bool { return r.Path == c.Path && r.Value == c.Value })
		if i >= 0 {
			return fmt.Errorf("%s was proposed before and rejected: %s", c, m.Rejected[i].Why)
		}
		_, err := policies.Mutate(s.policy, c)
		return err
	})
	if err != nil {
		return err
	}
	for i, c := range changes {
		x, err := e.draft(ctx, s, c, e.Author.Name())
		if err != nil {
			return err
		}
		if !x.Phase.Open() {
			continue
		}
		for _, other := range changes[i+1:] {
			if err := e.keep(ctx, s, other); err != nil {
				return err
			}
		}
		return e.lockAndAdvance(ctx, x)
	}
	return nil
}

// keep saves a change that is not tried now. It takes no number of those that are.
func (e *Evolver) keep(ctx context.Context, s subject, c policies.Mutation) error {
	x, _, err := e.experiment(ctx, s, c, e.Author.Name(), 0)
	if err == nil {
		_, err = e.setPhase(ctx, x, store.ExperimentRejected, reasonOther)
	}
	if errors.Is(err, store.ErrStale) { // it was kept before
		return nil
	}
	return err
}

// lockAndAdvance advances one change while holding the lock.
func (e *Evolver) lockAndAdvance(ctx context.Context, x store.Experiment) error {
	e.moving.Lock()
	defer e.moving.Unlock()
	return e.advance(ctx, x)
}

// draft checks a change by the replay gate and saves it as drafted or rejected.
func (e *Evolver) draft(ctx context.Context, s subject, c policies.Mutation, by string) (store.Experiment, error) {
	past, err := e.Store.Experiments(ctx, s.installation, false)
	if err != nil {
		return store.Experiment{}, err
	}
	number := 1
	for _, was := range past {
		if s.matches(was) && was.Number > 0 {
			number++
		}
	}
	x, candidate, err := e.experiment(ctx, s, c, by, number)
	if err != nil {
		return x, err
	}
	return e.gate(ctx, x, s.policy, candidate)
}

// experiment returns the experiment of a change, not saved yet, and the changed policy. It saves both versions.
func (e *Evolver) experiment(
	ctx context.Context, s subject, c policies.Mutation, by string, number int,
) (x store.Experiment, candidate policies.Policy, err error) {
	if candidate, err = policies.Mutate(s.policy, c); err != nil {
		return x, candidate, err
	}
	x = store.Experiment{
		Installation: s.installation, Place: s.place, Alone: s.alone, Layer: int(s.layer),
		Decision: string(s.policy.Decision), Name: s.policy.Name, File: s.file(), Present: s.policy.ID(),
		Candidate: candidate.ID(), Change: changeText(s.policy, candidate), Path: c.Path, Value: c.Value, Reason: c.Reason,
		By: by, Number: number, CreatedAt: e.Now(),
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d/%s/%d", s.installation, s.place.ID, candidate.ID(), x.Number))
	x.ID = fmt.Sprintf("%s-%d-%x", s.policy.Name, x.Number, sum[:3])
	for _, p := range []policies.Policy{s.policy, candidate} {
		if err := e.Store.KeepPolicyVersion(ctx, p.ID(), string(p.Decision), p.Source); err != nil {
			return x, candidate, err
		}
	}
	return x, candidate, nil
}

// changeText describes a change of a policy.
func changeText(was, now policies.Policy) string {
	var all []string
	for _, c := range policies.Diff(was, now) {
		if c.Path != "version" {
			all = append(all, c.String())
		}
	}
	return strings.Join(all, "; ")
}

// countReplayed counts the replayed historical tasks that only one of two policies resolved: of the repository that a
// change concerns, or of all in its installation.
func (e *Evolver) countReplayed(
	ctx context.Context, x store.Experiment, present, candidate policies.Policy,
) (won, lost int, err error) {
	if e.Replayed == nil {
		return 0, 0, nil
	}
	repos, err := e.Store.Repositories(ctx, x.Installation)
	if err != nil {
		return 0, 0, err
	}
	for _, r := range repos {
		if x.Alone && r.ID != x.Place.ID {
			continue
		}
		w, l, err := e.Replayed(r.String(), present.ID(), candidate.ID())
		if err != nil {
			return 0, 0, err
		}
		won, lost = won+w, lost+l
	}
	return won, lost, nil
}

// gate evaluates a change by tasks with a known outcome, and saves it.
func (e *Evolver) gate(
	ctx context.Context, x store.Experiment, present, candidate policies.Policy,
) (store.Experiment, error) {
	g, err := evolve.NewGate(x.Number)
	if err != nil {
		return x, err
	}
	won, lost, err := e.Log.Duels(ctx, x.Installation, present, candidate)
	if err != nil {
		return x, err
	}
	more, less, err := e.countReplayed(ctx, x, present, candidate)
	if err != nil {
		return x, err
	}
	won, lost = won+more, lost+less
	for range won {
		g.Add(true, false)
	}
	for range lost {
		g.Add(false, true)
	}
	x.Gate = g.Why()
	if more+less > 0 {
		x.Gate += fmt.Sprintf(" (of these tasks %d were replayed)", more+less)
	}
	switch g.Verdict() {
	case evolve.Reject:
		return e.setPhase(ctx, x, store.ExperimentRejected, "tasks speak against it: "+x.Gate)
	case evolve.Pass:
	default:
		x.Gate = "not replayed, for tasks can say too little: " + x.Gate
	}
	return e.setPhase(ctx, x, store.ExperimentDrafted, fmt.Sprintf("%s proposed it: %s", x.By, x.Reason))
}
