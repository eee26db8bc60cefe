package improve

import (
	"context"
	"errors"
	"fmt"

	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/visible"
)

const (
	maxReasons = 6
	maxReason  = 400 // characters
)

// evaluate evaluates a change in the copy. why is the reason to reject it; "" to accept it. The cheapest steps come
// first, and the first failure ends the evaluation. replayed holds the results of tasks with the change.
func (r *run) evaluate(
	ctx context.Context, c *Cycle, before, after File,
) (replayed map[string]bool, why string, err error) {
	r.Say(fmt.Sprintf("cycle %d: evaluate", c.Number))
	v := &c.Evaluation
	if v.Parse, err = r.parse(ctx, c.File, before, after); err != nil {
		return nil, "", fmt.Errorf("parse %s: %w", c.File, err)
	}
	if v.Parse.Verdict == Broken {
		return nil, "it does not parse: " + v.Parse.String(), nil
	}
	if why, err = r.test(ctx, c, after); err != nil || why != "" {
		return nil, why, err
	}
	if why, err = r.criticise(ctx, c, before, after); err != nil || why != "" {
		return nil, why, err
	}
	return r.replay(ctx, c)
}

// parse parses the change. For languages with dialects, such as JSON with comments or JavaScript with JSX, a syntax
// error does not count if the file did not parse before either.
func (r *run) parse(ctx context.Context, name string, before, after File) (Parse, error) {
	p, known := parse(name, after.Text)
	if !known {
		p, err := r.check(ctx, name, before, after)
		p.Why = r.sentence(p.Why)
		return p, err
	}
	if p.Verdict == Broken && !before.Absent && (p.Language == languageJSON || p.Language == languageYAML) {
		if was, _ := parse(name, before.Text); was.Verdict == Broken {
			return Parse{Verdict: NotChecked, Language: p.Language,
				Why: "it was no plain " + p.Language + " before the change either"}, nil
		}
	}
	p.Why = r.sentence(p.Why)
	return p, nil
}

// check parses the change with the language's own parser, and if that fails, the file before the change.
func (r *run) check(ctx context.Context, name string, before, after File) (Parse, error) {
	p, err := r.Checker.Check(ctx, name)
	if err != nil || p.Verdict != Broken || before.Absent {
		return p, err
	}
	if err := r.Files.Write(name, before); err != nil {
		return p, err
	}
	was, err := r.Checker.Check(ctx, name)
	if err := errors.Join(err, r.Files.Write(name, after)); err != nil {
		return p, err
	}
	if was.Verdict == Broken {
		return Parse{Verdict: NotChecked, Language: p.Language,
			Why: "the parser of " + p.Language + " could not parse it before the change either"}, nil
	}
	return p, nil
}

// test runs the self-test. It has to pass, even if it failed before the change.
func (r *run) test(ctx context.Context, c *Cycle, after File) (why string, err error) {
	if r.Tests == nil {
		return "", nil
	}
	got, err := r.Tests.Test(ctx, c.File)
	if err != nil {
		return "", fmt.Errorf("self-test: %w", err)
	}
	if err := context.Cause(ctx); err != nil {
		return "", fmt.Errorf("self-test: %w", err)
	}
	got.Output = r.Mask(got.Output)
	c.Evaluation.SelfTest = &got
	if !got.OK {
		return "the self-test does not pass: " + got.Ending, nil
	}
	// The self-test may write to the copy. It must not pass by changing the file.
	now, err := r.Files.Read(c.File)
	if err != nil {
		return "", fmt.Errorf("self-test: read %s: %w", c.File, err)
	}
	if now != after {
		return "the self-test changed the file that it tests", nil
	}
	return "", nil
}

// criticise asks the independent critic, which sees only the goal and the file before and after.
func (r *run) criticise(ctx context.Context, c *Cycle, before, after File) (why string, err error) {
	r.Say(fmt.Sprintf("cycle %d: critique", c.Number))
	v := &evidence{left: room(r.Critic)}
	v.add("The goal", "From who proposes the change.", c.Goal, 20, text.Head)
	half := v.left * 40 / 100
	was, now := r.show(before, half), r.show(after, half)
	if was.bytes < len(before.Text) || now.bytes < len(after.Text) {
		v.add("The change of "+c.File, "The file is too long to be shown: this is the difference.",
			visible.Text(r.Mask(c.Diff)), 95, text.Head)
	} else {
		content := was.text
		if before.Absent {
			content = "(there is no such file)"
		}
		v.add(c.File+" before", "From the project.", content, 55, text.Head)
		v.add(c.File+" after", "From who proposes the change.", now.text, 100, text.Head)
	}
	var critique Critique
	why = ask(ctx, r.Critic, question{name: "critique", evidence: v.String()}, &c.Usage, func(raw []byte) error {
		critique = Critique{Score: -1}
		if err := decode(raw, &critique); err != nil {
			return err
		}
		if !(critique.Score >= 0 && critique.Score <= 1) {
			return errors.New("score must be a number from 0 to 1")
		}
		if len(critique.Reasons) == 0 {
			return errors.New("reasons is empty: say what the score rests on")
		}
		critique.Reasons = critique.Reasons[:min(len(critique.Reasons), maxReasons)]
		for i, s := range critique.Reasons {
			critique.Reasons[i] = text.Clip(r.sentence(s), maxReason)
		}
		return nil
	})
	if err := context.Cause(ctx); err != nil {
		return "", fmt.Errorf("critique: %w", err)
	}
	if why != "" {
		r.result.Ended = why
		return "there is no critique: " + why, nil
	}
	c.Evaluation.Critique = &critique
	if critique.Score < r.order.Threshold {
		return fmt.Sprintf("the critique scores it %.2f; %.2f is wanted", critique.Score, r.order.Threshold), nil
	}
	return "", nil
}

// replay replays tasks with the change and compares the results with those without it.
func (r *run) replay(ctx context.Context, c *Cycle) (results map[string]bool, why string, err error) {
	if r.Replay == nil {
		return nil, "", nil
	}
	if len(r.replayed) == 0 {
		c.Evaluation.Replay = &Replayed{Verdict: NotReplayed, Why: "there are no replay tasks; `sia replay mine` finds some"}
		return nil, "", nil
	}
	r.Say(fmt.Sprintf("cycle %d: replay", c.Number))
	if results, err = r.Replay.Replayer.Replay(ctx, r.Replay.Dir); err != nil {
		return nil, "", fmt.Errorf("replay: %w", err)
	}
	var pairs []Pair
	for _, id := range sortedKeys(r.replayed) {
		if after, played := results[id]; played {
			pairs = append(pairs, Pair{After: after, Before: r.replayed[id]})
		}
	}
	k := r.order.Proposals + 1
	for _, earlier := range r.result.Cycles {
		if got := earlier.Evaluation.Replay; got != nil && got.Proposal > 0 {
			k++
		}
	}
	j, err := r.Replay.Judge(k, pairs)
	if err != nil {
		return nil, "", fmt.Errorf("replay: %w", err)
	}
	c.Evaluation.Replay = &Replayed{Verdict: j.Verdict, Tasks: len(pairs), Proposal: k, E: j.E, Threshold: j.Threshold,
		Why: j.Why}
	if j.Verdict == ReplayReject {
		return nil, "replayed tasks don't show that it is better: " + j.Why, nil
	}
	return results, "", nil
}
