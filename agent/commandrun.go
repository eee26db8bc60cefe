package agent

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/stuck"
	"github.com/sia-bot/sia/sia/text"
)

//go:embed prompts/command.md
var commandPrompt string

// commandAsk is the part of a command's prompt about asking first.
//
//go:embed prompts/commandask.md
var commandAsk string

// maxEnding is the maximum size of a failed command's output in a reason for users, in bytes.
const maxEnding = 1500

// commandRun is a running attempt of a command.
type commandRun struct {
	*CommandAgent
	turnJournal
	in      Input
	env     tool.Env
	meter   *callMeter
	out     *outputParser
	loop    loopDetector
	runner  *attemptRunner
	configs map[string]configFile // in the work tree when the command started
	removed []string              // configuration that the command created and that was removed
	calls   chan *paidAnswer      // from the gateway, one at a time; nil: a call begins
	stop    context.CancelCauseFunc
	ended   <-chan struct{} // closed when calls are no longer received

	turns int // number of recorded turns
	res   Result
}

// limitError is the cancellation cause of an attempt that exhausted its budget.
type limitError struct {
	end sia.AttemptEnd
	why string
}

func (l limitError) Error() string { return l.why }

// stuckError is the cancellation cause of an attempt that is about to get stuck.
type stuckError struct{ signal sia.Signal }

func (s stuckError) Error() string { return s.signal.Evidence }

// attempt runs the command to its end and records the result.
func (r *commandRun) attempt(ctx context.Context) (Result, error) {
	ctx, cancel := r.meter.budget.withTimeLimit(ctx)
	defer cancel()
	defer func() { r.runner.close() }()
	err := r.run(ctx)
	r.res.Turns, r.res.Cost, r.res.Usage = r.meter.total()
	r.res.Risk = r.loop.highest
	if err != nil {
		r.res.End, r.res.Reason = sia.EndError, err.Error()
	}
	r.res.Reason, r.res.Summary = secret.Mask(r.res.Reason), secret.Mask(r.res.Summary)
	if saved := r.recordTurn(ctx, Turn{Number: r.turns + 1, Kind: TurnEnd, Text: endText(r.res)}); err == nil {
		err = saved
	}
	return r.res, err
}

// run prepares the work tree and runs the command.
func (r *commandRun) run(ctx context.Context) error {
	runner, message, note, err := r.Commands.openRunner(ctx, r.in)
	if err != nil {
		return err
	}
	r.runner = runner
	r.addNote(runner.missingServices)
	r.addNote(note)
	brief := r.in.Brief
	if len(brief.Tools)+len(brief.WithoutTools) > 0 {
		r.addNote("the tools that the brief names are the builtin agent's: they are told, not enforced")
	}
	text, notes := assemblePrompt(ctx, r.in, r.env, runner.setupMessage(message), maxPrompt)
	r.notes = append(r.notes, notes...)
	role := commandPrompt
	if r.in.Planning {
		role = commandPlanPrompt
	}
	question := ""
	if r.in.CanAsk {
		question = commandAsk
	}
	role = strings.ReplaceAll(role, "{{ask}}\n", question)
	role = strings.ReplaceAll(role, "{{steering}}", "`"+strings.Join(steering, "`, `")+"`")
	text = strings.TrimSpace(role) + "\n\n" + text
	gate, to, err := r.gateway(r.meter)
	if err != nil {
		return err
	}
	defer gate.Close()
	if _, answers, ok := resumePoint(r.in.Saved); ok {
		// A command can't be resumed. The cost so far is still charged.
		r.turns = answers[len(answers)-1].Number
		r.addNote("begun again after the process ended: the command starts anew, in the work tree as it is")
	} else if err := r.recordTurn(ctx, Turn{Kind: TurnBrief, Text: text}); err != nil {
		return err
	}

	ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	if err := r.start(ctx, to, text, gate); err != nil {
		return err
	}
	if message := r.verifyEnd(ctx); message != "" {
		if err := r.startAgain(ctx, to, text, message, gate); err != nil {
			return err
		}
	}
	if p := r.in.Part; p != nil && r.res.End == sia.EndFinished {
		check := p.check().run(ctx, r.runner, r.env)
		r.res.Check = &check
	}
	return nil
}

// startAgain restarts the command with a message. The command has no memory of its first run, so it gets the brief
// again. If it fails this time, the result of the first run is kept.
func (r *commandRun) startAgain(
	ctx context.Context, to modelAccess, brief, message string, gate *gateway.Gateway,
) error {
	first := r.res
	r.env.CanAsk = false // questions are for the time before the first change
	r.loop.recent = nil
	r.turns++
	r.addNote("started once more, since its change can't be pushed or tests that it reaches fail")
	if r.res.LeftOut != "" {
		message += "\n\n" + sanitizeText(r.res.LeftOut)
	}
	if err := r.recordTurn(ctx, Turn{Number: r.turns, Kind: TurnBrief, Text: message}); err != nil {
		return err
	}
	err := r.start(ctx, to, brief+"\n\n## What you did before\n\nIt is in the work tree. "+message, gate)
	if err != nil {
		return err
	}
	if r.res.End == sia.EndError || r.res.End == sia.EndStuck {
		r.addNote("the second time, " + r.res.Reason)
		r.res.End, r.res.Reason, r.res.Summary, r.res.Ledger = first.End, "", first.Summary, first.Ledger
		r.res.Signals = nil
	}
	if r.res.End == sia.EndFinished {
		checkAffected(ctx, r.in, &r.res, r.meter.usedShare(), &r.turnJournal, endAgain)
	}
	return nil
}

// start runs the command once, to its end.
func (r *commandRun) start(ctx context.Context, to modelAccess, brief string, gate *gateway.Gateway) error {
	if err := r.protectConfigs(ctx); err != nil {
		return err
	}
	c := r.sandboxCommand(to, brief, gate)
	over := make(chan struct{})
	r.meter.withLock(func() { r.ended = over })
	type outcome struct {
		sandbox.Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		res, err := r.Commands.sandbox.Run(ctx, c)
		done <- outcome{res, err}
	}()
	var last *paidAnswer
	var failed error
	for {
		select {
		case a := <-r.calls:
			// Output before a call belongs to the previous answer. Output during a call may belong to that call's own answer,
			// which the program reads as a stream.
			if a == nil || last != nil {
				if err := r.recordAnswer(ctx, last, false); err != nil && failed == nil {
					failed = err
					r.stop(err)
				}
			}
			last = a
		case res := <-done:
			close(over)
			if err := r.undoConfigs(ctx); err != nil && failed == nil {
				failed = err
			}
			if err := r.recordAnswer(ctx, last, true); err != nil && failed == nil {
				failed = err
			}
			if err := cmp.Or(failed, res.err); err != nil && ctx.Err() == nil || failed != nil {
				return errors.Join(failed, res.err)
			}
			r.setEnd(ctx, res.Result, gate)
			return nil
		}
	}
}

// sandboxCommand returns the command in the sandbox's form.
func (r *commandRun) sandboxCommand(to modelAccess, brief string, gate *gateway.Gateway) sandbox.Command {
	c := r.runner.newCommand(false)
	env, refused := r.variables(to)
	for _, name := range refused {
		r.addNote("a variable that agent.env names is not passed on: " + name)
	}
	c.Env = append(c.Env, env...)
	if c.Shell = r.line; r.known {
		c.Shell, c.Argv = "", r.preset.argv(r.Model)
	}
	for _, p := range slices.Sorted(maps.Keys(r.configs)) {
		if p != ".git" { // always protected
			c.ReadOnly = append(c.ReadOnly, p)
		}
	}
	for _, dir := range r.Path {
		if _, err := os.Stat(dir); err == nil {
			c.Mounts = append(c.Mounts, sandbox.Mount{From: dir})
		}
	}
	left := r.meter.budget.limits.Time
	c.Stdin, c.Output, c.Service = strings.NewReader(brief+"\n"), r.out, gate
	c.Limits = sandbox.Limits{Time: 2 * left, CPU: left, Output: 8 << 10} // the attempt's own limit is lower
	return c
}

// passCall passes on that a call to the model begins, or its answer. It blocks until the previous turn is recorded.
func (r *commandRun) passCall(a *paidAnswer) {
	select {
	case r.calls <- a:
	case <-r.ended:
	}
}

// endAtLimit cancels the attempt at a limit of its budget.
func (r *commandRun) endAtLimit(end sia.AttemptEnd, why string) { r.stop(limitError{end, why}) }

// recordAnswer records the output since the last turn. a is the answer that led to it; nil: none. ended means that no
// more output follows.
func (r *commandRun) recordAnswer(ctx context.Context, a *paidAnswer, ended bool) error {
	text, calls := r.out.takeTurn(ended)
	if a == nil && text == "" && len(calls) == 0 {
		return nil
	}
	t := Turn{Kind: TurnModel, Text: text, Calls: calls}
	if a != nil {
		t.Usage, t.Cost = a.usage, a.cost
	}
	r.turns++
	t.Number = r.turns
	if err := r.recordTurn(ctx, t); err != nil || ended {
		return err
	}
	if s := r.watchCalls(calls, a); s != nil {
		r.stop(stuckError{*s})
	}
	return nil
}

// watchCalls adds calls to the loop detector and returns its signal that the attempt is about to get stuck; nil: none.
// Which calls change files is not known, so the time without a change is no sign.
func (r *commandRun) watchCalls(calls []Call, a *paidAnswer) *sia.Signal {
	for _, c := range calls {
		if r.preset.Name == codexPreset.Name && c.Name == "edit" && !c.IsError {
			r.loop.recent = nil // Codex reports only the paths of an edit, so edits of one file look alike
			continue
		}
		s := r.loop.addCall(stuck.Action{Tool: c.Name, Args: canonicalArgs(c.Arguments), Result: c.Result,
			Error: c.IsError}, false)
		if s != nil {
			return s
		}
	}
	if a == nil || len(calls) == 0 {
		return nil
	}
	return r.loop.predict(a.share)
}

// askBlock matches the question in a command's last output.
var askBlock = lazyregexp.New("(?s)```(?:sia-)?ask\\s*\n(.*?)```")

// extractAsk removes the last question block from a command's output. ask is nil if there is no valid block; wrong is
// the reason if it is invalid.
func (r *commandRun) extractAsk(ctx context.Context, words string) (rest string, ask *sia.Ask, wrong string) {
	rest, question, ok := extractBlock(askBlock, words)
	if !ok || r.in.Planning {
		return words, nil, ""
	}
	res, err := tool.AskTool().Call(ctx, r.env, []byte(question))
	if err != nil {
		return rest, nil, "its question is not asked: " + err.Error()
	}
	return rest, res.Ask, ""
}

// setEnd sets the result of the attempt.
func (r *commandRun) setEnd(ctx context.Context, res sandbox.Result, gate *gateway.Gateway) {
	last, printed := r.out.lastWords()
	words := last
	if r.preset.read == nil {
		words = printed // its last line is the summary
	}
	rest, entries, wrong := extractLedger(words)
	r.res.Ledger = entries
	r.addNote(wrong)
	rest, ask, wrong := r.extractAsk(ctx, rest)
	r.addNote(wrong)
	if r.preset.read != nil {
		last = rest
	} else if rest != words {
		last = rest[strings.LastIndexByte(rest, '\n')+1:]
	}
	r.res.Summary, r.res.Reason = text.Clip(last, tool.MaxSummary), ""
	var spent limitError
	var loops stuckError
	switch {
	case errors.As(context.Cause(ctx), &spent):
		r.res.End, r.res.Reason = spent.end, spent.why
	case errors.As(context.Cause(ctx), &loops):
		loops.signal.Evidence = secret.Mask(loops.signal.Evidence)
		r.res.End, r.res.Reason = sia.EndStuck, loops.signal.Evidence
		r.res.Signals = append(r.res.Signals, loops.signal)
	case ctx.Err() != nil:
		r.res.End, r.res.Reason = r.meter.budget.contextEnd(ctx)
	case res.OK() && r.in.Planning:
		r.endWithPlan(last, printed)
	case res.OK() && ask != nil:
		r.res.End, r.res.Ask = sia.EndAsked, ask
	case res.OK():
		r.res.End = sia.EndFinished
	default:
		name := cmp.Or(r.preset.Name, "the command")
		r.res.End, r.res.Reason = sia.EndError, fmt.Sprintf("%s failed: %s", name, res.Ending())
		if why := gate.Failed(); why != "" {
			r.res.Reason += "; " + why
		}
		if printed != "" {
			r.res.Reason += ". It printed at the end: " + text.Fit(printed, maxEnding, text.Tail)
		}
		r.res.Summary = ""
	}
}
