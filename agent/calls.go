package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/stuck"
	"github.com/sia-bot/sia/sia/text"
)

// callTools carries out an answer's tool calls in order and adds their results to the conversation. Every call gets a
// result, even if it is not carried out: the protocol requires one.
func (r *builtinRun) callTools(ctx context.Context, resp llm.Response) []Call {
	cut := resp.Finish == llm.FinishLength
	understood := false
	var done []Call
	for i, c := range resp.Message.ToolCalls {
		call := Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments}
		switch {
		case ctx.Err() != nil:
			call.Result, call.IsError = "not carried out: the attempt was stopped", true
		case r.res.End != "":
			call.Result, call.IsError = "not carried out: the attempt had ended", true
		case i >= maxCalls:
			call.Result, call.IsError = fmt.Sprintf("not carried out: at most %d calls are carried out for one answer",
				maxCalls), true
		default:
			began := r.budget.now()
			understood = r.callTool(ctx, &call, cut && i == len(resp.Message.ToolCalls)-1) || understood
			call.Took = r.budget.now().Sub(began)
			if ctx.Err() == nil && r.res.End == "" {
				r.addLessons(&call)
			}
		}
		r.conv.addMessage(llm.Message{Role: llm.RoleTool, ToolCallID: c.ID, Content: call.modelText()})
		done = append(done, call)
	}
	if s := r.loop.endTurn(understood, len(done)); s != nil {
		r.endStuck(*s)
	}
	if r.res.End == "" {
		if s := r.loop.predict(r.budget.usedShare()); s != nil {
			r.endStuck(*s)
		}
	}
	return done
}

// callTool carries out one call and reports whether its arguments could be parsed. cut means that the answer was cut
// off within the call.
func (r *builtinRun) callTool(ctx context.Context, call *Call, cut bool) (understood bool) {
	t, offered := r.toolNamed(call.Name)
	var res tool.Result
	var err error
	switch {
	case !offered:
		err = fmt.Errorf("there is no tool %q in this attempt; there are %s", text.Clip(call.Name, 60),
			strings.Join(toolNames(r.offered), ", "))
		if r.in.Planning {
			err = fmt.Errorf("%w; it makes a plan and changes nothing", err)
		}
	case cut && !json.Valid([]byte(call.Arguments)):
		err = fmt.Errorf("your answer was cut at the output limit before the call was complete, so nothing was done; " +
			"make a smaller call, such as several small edits")
	default:
		understood = call.Arguments == "" || json.Valid([]byte(call.Arguments))
		res, err = t.Call(ctx, r.env, json.RawMessage(call.Arguments))
	}
	call.Result = res.Text
	if err != nil {
		call.Result, call.IsError = "error: "+text.Clip(err.Error(), tool.MaxResult), true
	}
	if errors.Is(err, sandbox.ErrDiscarded) {
		r.lostTree = err
		r.setEnd(sia.EndError, "") // the remaining calls are not carried out
	}
	if ctx.Err() != nil && err != nil {
		return understood // interrupted: neither a result nor a sign of being stuck
	}
	call.Changed = res.Changed
	r.noteChanged(*call)
	r.countEdit(*call)
	if res.Finish != nil {
		if message := r.verifyFinish(ctx, *res.Finish); message != "" {
			res = tool.Result{}
			call.Result = message
		}
		call.Check, call.Affected = r.res.Check, r.res.Affected
	}
	if !r.endIfFinal(res) {
		if s := r.loop.addCall(stuck.Action{Tool: call.Name, Args: canonicalArgs(call.Arguments), Result: call.Result,
			Error: call.IsError}, len(res.Changed) > 0); s != nil {
			r.endStuck(*s)
		}
	}
	return understood
}

// noteChanged records which files a call changed.
func (r *builtinRun) noteChanged(c Call) {
	r.env.Changed = r.env.Changed || len(c.Changed) > 0
	if slices.Contains(replayedTools, c.Name) {
		r.res.Written = append(r.res.Written, c.Changed...)
	}
}

// endIfFinal ends the attempt if the result of the call ends it, and reports whether it did.
func (r *builtinRun) endIfFinal(res tool.Result) bool {
	switch {
	case res.Finish != nil:
		r.res.Summary, r.res.Ledger = res.Finish.Summary, res.Finish.Ledger
		r.setEnd(sia.EndFinished, "")
	case res.Ask != nil:
		r.res.Ask = res.Ask
		r.setEnd(sia.EndAsked, "")
	case res.Proposal != nil:
		r.res.Summary, r.res.Ask = res.Proposal.Summary, &sia.Ask{Plan: res.Proposal}
		r.setEnd(sia.EndAsked, "")
	default:
		return false
	}
	return true
}

// toolNamed returns the offered tool with that name; ok is false if there is none.
func (r *builtinRun) toolNamed(name string) (t tool.Tool, ok bool) {
	i := slices.IndexFunc(r.offered, func(t tool.Tool) bool { return t.Name == name })
	if i < 0 {
		return t, false
	}
	return r.offered[i], true
}

// endStuck ends the attempt because of a stuck signal.
func (r *builtinRun) endStuck(s sia.Signal) {
	if r.res.End != "" {
		return
	}
	s.Evidence = secret.Mask(s.Evidence)
	r.res.Signals = append(r.res.Signals, s)
	r.setEnd(sia.EndStuck, s.Evidence)
}

// canonicalArgs returns arguments without differences in white space and key order. Invalid JSON is returned unchanged.
func canonicalArgs(args string) string {
	var v any
	if json.Unmarshal([]byte(args), &v) != nil {
		return args
	}
	b, _ := json.Marshal(v) // v was read from JSON
	return string(b)
}

// verifyFinish runs the checks that are due when the agent finishes. If one fails, it returns the message that the
// agent receives instead of the end; otherwise "".
func (r *builtinRun) verifyFinish(ctx context.Context, s tool.FinishStatement) (message string) {
	var part, push, affected, ledger string
	if r.in.Part != nil {
		part = r.verifyPart(ctx, s.Check)
	}
	if !r.sentBack && r.res.End == "" {
		push = checkPush(ctx, r.in, &r.turnJournal, finishAgain)
	}
	if r.env.Changed && r.res.End == "" {
		affected = checkAffected(ctx, r.in, &r.res, r.budget.usedShare(), &r.turnJournal, finishAgain)
	}
	if s.NoLedger && !r.sentBack && r.res.End == "" && r.budget.usedShare() <= affectedBudgetShare {
		ledger = askForLedger
	}
	message = joinMessages(part, push, affected, ledger)
	r.sentBack = r.sentBack || message != ""
	return message
}

// askForLedger is the message about a finish call without a ledger.
const askForLedger = "`finish` takes a `ledger`, too, for whoever goes on if the checks are red: call it again with " +
	"the list of what you suspected, what works and what leads nowhere, or with an empty list."

// verifyPart checks in the sandbox whether the part is done. command is the test command that the agent gave, if any.
// It returns a message for the agent the first time that the part is not done; otherwise "".
func (r *builtinRun) verifyPart(ctx context.Context, command string) (message string) {
	want := r.in.Part.check()
	if command != "" {
		want.command = command
	}
	first := r.res.Check == nil
	got := want.run(ctx, r.runner, r.env)
	if r.contextEnded(ctx) { // the check was interrupted
		return ""
	}
	r.res.Check = &got
	if got.Holds || got.Missing != "" || !first || r.res.End != "" {
		return ""
	}
	return unmetMessage(got, want.fails)
}

// finishWithTest replaces the finish tool of a run that writes a test: the agent must name the test.
func (r *builtinRun) finishWithTest() {
	if p := r.in.Part; p == nil || p.Kind != sia.PartTest {
		return
	}
	for i, t := range r.offered {
		if t.Name == tool.NameFinish {
			r.offered[i] = tool.FinishTestTool()
		}
	}
}
