package work

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/sia"
)

// decide makes a task's decision by the policies in force. A logged decision is final: the effect returns the same
// answer if it is executed again.
func (w *decisionWorker) decide(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	coders := w.Coders.Allowed(t.Settings)
	d, err := w.logged(ctx, t, f)
	if errors.Is(err, store.ErrNotFound) {
		d, err = w.decideNow(ctx, t, f, coders)
	}
	if err != nil {
		return nil, err
	}
	out := sia.Decided{Type: d.Type, Choice: d.Choice, Decision: d.ID, Reason: d.Reason}
	switch d.Type {
	case sia.DecideAssign:
		if len(coders) == 1 && t.WantedCoder == "" {
			out.Reason = "" // there was no choice
		}
		out.Agent = agentName(t, coders, d.Choice)
		var options []coder.Option
		if err := json.Unmarshal(d.Options, &options); err != nil {
			return nil, fmt.Errorf("read decision %s: %w", d.ID, err)
		}
		for _, name := range coder.Racers(options, d.Choice) {
			out.Racers = append(out.Racers, sia.Racer{Coder: name, Agent: agentName(t, coders, name)})
		}
	case sia.DecideDecompose, sia.DecideRecover:
		var options []policies.Option
		if err := json.Unmarshal(d.Options, &options); err != nil {
			return nil, fmt.Errorf("read decision %s: %w", d.ID, err)
		}
		if i := slices.IndexFunc(options, func(o policies.Option) bool { return o.Choice == d.Choice }); i >= 0 {
			out.Wait, out.AtOnce, out.MaxParts = sia.Duration(options[i].Wait), options[i].AtOnce, options[i].MaxParts
		}
	}
	return out, nil
}

// agentName returns the agent and model of the named coder; "" if it is not among coders.
func agentName(t sia.Task, coders []Coder, name string) string {
	if i := coderIndex(coders, name); i >= 0 {
		return coders[i].Agent(t.Settings.Agent).Name()
	}
	return ""
}

// coderIndex returns the index of the named coder; -1 if it is not in the list.
func coderIndex(coders []Coder, name string) int {
	return slices.IndexFunc(coders, func(c Coder) bool { return c.Name == name })
}

// coder returns the named coder, or the first if that one is no longer configured.
func (w *decisionWorker) coder(t sia.Task, name string) Coder {
	may := w.Coders.Allowed(t.Settings)
	return may[max(0, coderIndex(may, name))]
}

// tools returns the names of the tools that an attempt has, as far as they are known.
func (w *decisionWorker) tools(s sia.AgentSettings) []string {
	if s.Kind == "command" {
		return nil
	}
	return w.Coders.Tools
}

// decideNow makes a decision and logs it before it takes effect.
func (w *decisionWorker) decideNow(
	ctx context.Context, t sia.Task, f sia.Effect, coders []Coder,
) (sia.Decision, error) {
	set, err := w.Settings.Policies(ctx, t.Installation, t.Repo)
	if err != nil {
		return sia.Decision{}, err
	}
	language, err := w.language(ctx, t)
	if err != nil {
		return sia.Decision{}, err
	}
	d, p, err := w.Decider.Decide(ctx, set, t, f, language, candidates(t, coders))
	if err != nil {
		return d, err
	}
	if err := w.Store.KeepPolicyVersion(ctx, p.ID(), string(p.Decision), p.Source); err != nil {
		return d, err
	}
	if err := w.Store.LogDecision(ctx, d); err != nil {
		return d, err
	}
	was, err := w.logged(ctx, t, f) // another worker may have been first
	if errors.Is(err, store.ErrNotFound) {
		return d, nil
	}
	return was, err
}

// logged returns the logged decision of an effect. The error wraps [store.ErrNotFound] if there is none, or if what is
// logged under the effect's key answers another question or is of another task: nobody else decides for a task.
func (w *decisionWorker) logged(ctx context.Context, t sia.Task, f sia.Effect) (sia.Decision, error) {
	d, err := w.Store.Decision(ctx, f.Key)
	if err == nil && (d.Task != t.ID || d.Type != f.Question) {
		return sia.Decision{}, fmt.Errorf("decision %s of task %s: %w", d.ID, d.Task, store.ErrNotFound)
	}
	return d, err
}

// ruling is the policy in force for a decision that is made within another effect, and the context of the decision.
type ruling struct {
	policies.Policy
	context policies.Context
}

// inForce returns the policy in force for a type of decision that is made within another effect.
func (w *decisionWorker) inForce(ctx context.Context, t sia.Task, typ policies.Type) (by ruling, err error) {
	set, err := w.Settings.Policies(ctx, t.Installation, t.Repo)
	if err != nil {
		return by, err
	}
	language, err := w.language(ctx, t)
	if err != nil {
		return by, err
	}
	by.Policy, by.context, err = w.Decider.InForce(ctx, set, t, typ, language, len(w.Coders.Allowed(t.Settings)))
	if err != nil {
		return by, err
	}
	return by, w.Store.KeepPolicyVersion(ctx, by.ID(), string(by.Decision), by.Source)
}

// language returns the language of most files of the task's base.
func (w *decisionWorker) language(ctx context.Context, t sia.Task) (string, error) {
	if t.BaseSHA == "" {
		return "", nil
	}
	if l, known := w.languages.Get(t.BaseSHA); known {
		return l, nil
	}
	repo := w.mirror(t)
	if err := repo.FetchCommit(ctx, string(t.BaseSHA)); err != nil {
		return "", err
	}
	files, err := repo.Files(ctx, string(t.BaseSHA), "")
	if err != nil {
		return "", err
	}
	l := policies.Language(paths(files))
	w.languages.Put(t.BaseSHA, l)
	return l, nil
}

// How long the language of a commit is remembered, and of how many.
const (
	languagesTTL = 24 * time.Hour
	maxLanguages = 1000
)

// Choices.
const (
	choseRerun     = "re-run"
	choseBlame     = "blame the attempt"
	choseInterrupt = "interrupt"
	choseGoOn      = "go on"
)

// decideRerun logs a policy's decision about red checks of the head. If checks that were run again have been judged, it
// settles the earlier decision.
func (w *decisionWorker) decideRerun(ctx context.Context, t sia.Task, f sia.Effect, j sia.Judged, by ruling) error {
	id := fmt.Sprintf("%s/%d/rerun-%s", t.ID, f.Attempt, j.SHA)
	if t.Gate.Doubted {
		return w.settleRerun(ctx, id, j.Verdict)
	}
	if j.Doubt == nil {
		return nil
	}
	choice := choseBlame
	if j.Doubt.Rerun {
		choice = choseRerun
	}
	return w.logDecision(ctx, t, sia.Decision{
		ID: id, Attempt: f.Attempt, Type: sia.DecideRerun, Policy: by.ID(), Choice: choice, Propensity: 1,
		Reason: fmt.Sprintf("%.2g %% chance that this failure is flaky; a re-run costs %.2g %% of another attempt",
			100*j.Doubt.Chance, 100*j.Doubt.Cost),
	}, struct {
		policies.Context
		sia.Doubt
	}{by.context, *j.Doubt}, policies.Option{Choice: choseRerun, Score: j.Doubt.Chance},
		policies.Option{Choice: choseBlame, Score: j.Doubt.Cost})
}

// settleRerun records whether a re-run turned the checks green, and by how much that exceeded the expectation.
func (w *decisionWorker) settleRerun(ctx context.Context, id string, v sia.GateVerdict) error {
	y := 0.0
	switch v {
	case sia.VerdictGreen, sia.VerdictTampered:
		y = 1
	case sia.VerdictRed:
	default:
		return nil // not known yet
	}
	d, err := w.Store.Decision(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil // another head was doubted
	}
	if err != nil {
		return err
	}
	var was sia.Doubt
	if err := json.Unmarshal(d.Context, &was); err != nil {
		return fmt.Errorf("read decision %s: %w", id, err)
	}
	return w.Store.SettleDecision(ctx, id, string(v), y-was.Chance)
}

// decideInterrupt logs that an attempt was interrupted, or spared so that SIA learns how it ends, before that has any
// consequence.
func (w *decisionWorker) decideInterrupt(
	ctx context.Context, t sia.Task, f sia.Effect, end sia.AttemptEnded, by ruling,
) error {
	r, spare := cmp.Or(end.Risk, &sia.Risk{}), t.Settings.Agent.Spare
	switch {
	case r.Interrupted || r.Spared:
	case end.End == sia.EndStuck: // interrupted by a rule, which never spares
		spare = 0
	default:
		return nil
	}
	d := sia.Decision{
		ID: f.Key + "/interrupt", Attempt: f.Attempt, Type: sia.DecideInterrupt, Policy: by.ID(),
		Choice: choseInterrupt, Propensity: 1 - spare, Reason: end.Reason,
	}
	if r.Spared {
		d.Choice, d.Propensity = choseGoOn, spare
		d.Reason = fmt.Sprintf("it should be interrupted (a chance of %.2g that it gets nowhere, above %.2g) and is one "+
			"of those that are not, to learn what becomes of them", r.Chance, r.Limit)
		d.Outcome, d.Credit = "got somewhere", -r.Chance
		if end.Diff.Files == 0 || end.End != sia.EndFinished {
			d.Outcome, d.Credit = "got nowhere", 1-r.Chance
		}
	}
	return w.logDecision(ctx, t, d, struct {
		policies.Context
		Risk *sia.Risk `json:"risk"`
	}{by.context, r}, policies.Option{Choice: choseInterrupt, Score: r.Chance, Propensity: 1 - spare},
		policies.Option{Choice: choseGoOn, Score: r.Limit, Propensity: spare})
}

// logDecision sets the fields common to all decisions and logs d. by is the context with what else it was made by.
func (w *decisionWorker) logDecision(
	ctx context.Context, t sia.Task, d sia.Decision, by any, options ...policies.Option,
) error {
	var err error
	if d.Context, err = json.Marshal(by); err != nil {
		return fmt.Errorf("log decision %s: %w", d.ID, err)
	}
	if d.Options, err = json.Marshal(options); err != nil {
		return fmt.Errorf("log decision %s: %w", d.ID, err)
	}
	d.Task, d.Repo, d.At = t.ID, t.Repo.ID, w.Now()
	return w.Store.LogDecision(ctx, d)
}
