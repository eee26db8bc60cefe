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

// callTools carries out an answer's tool calls in order and adds their results to
// the conversation. Every call gets a result, as the protocol wants, even when it is
// not carried out.
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
				r.meetLessons(&call)
			}
		}
		r.conv.addMessage(llm.Message{Role: llm.RoleTool, ToolCallID: c.ID, Content: call.read()})
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

// callTool carries out one call and reports whether it could be understood. cut says
// that the answer was cut in the midst of it.
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
		r.setEnd(sia.EndError, "") // for the calls behind it
	}
	if ctx.Err() != nil && err != nil {
		return understood // interrupted: neither an outcome nor a sign
	}
	if call.Changed = res.Changed; len(res.Changed) > 0 {
		r.env.Changed = true
	}
	r.countEdit(*call)
	if res.Finish != nil {
		if told := r.lookAtEnd(ctx, res.Finish.Check); told != "" {
			res = tool.Result{}
			call.Result = told
		}
		call.Check, call.Affected = r.res.Check, r.res.Affected
	}
	if !r.concluded(res) {
		if s := r.loop.addCall(stuck.Action{Tool: call.Name, Args: canonicalArgs(call.Arguments), Result: call.Result,
			Error: call.IsError}, len(res.Changed) > 0); s != nil {
			r.endStuck(*s)
		}
	}
	return understood
}

// concluded ends the attempt when a call's result does so, and reports whether it did.
func (r *builtinRun) concluded(res tool.Result) bool {
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

// toolNamed is one of those that are offered; ok is false where none is called so.
func (r *builtinRun) toolNamed(name string) (t tool.Tool, ok bool) {
	i := slices.IndexFunc(r.offered, func(t tool.Tool) bool { return t.Name == name })
	if i < 0 {
		return t, false
	}
	return r.offered[i], true
}

// endStuck interrupts the attempt.
func (r *builtinRun) endStuck(s sia.Signal) {
	if r.res.End != "" {
		return
	}
	s.Evidence = secret.Mask(s.Evidence)
	r.res.Signals = append(r.res.Signals, s)
	r.setEnd(sia.EndStuck, s.Evidence)
}

// canonicalArgs is arguments in one spelling, whatever their white space and the order
// of their keys. What is no JSON stays as it is.
func canonicalArgs(args string) string {
	var v any
	if json.Unmarshal([]byte(args), &v) != nil {
		return args
	}
	b, _ := json.Marshal(v) // it was read from JSON
	return string(b)
}

// lookAtEnd runs what is run when the agent says that it is done. told is what it hears in place of the end; "" when it
// is done.
func (r *builtinRun) lookAtEnd(ctx context.Context, command string) (told string) {
	if r.in.Part != nil {
		told = r.look(ctx, command)
	}
	if told == "" {
		told = r.lookAffected(ctx)
	}
	return told
}

// look sees in the sandbox whether the part is done; command is what the agent says that its
// test is run by. told is what the agent hears the first time that it is not.
func (r *builtinRun) look(ctx context.Context, command string) (told string) {
	want := r.in.Part.wanted()
	if command != "" {
		want.command = command
	}
	first := r.res.Check == nil
	got := want.look(ctx, r.runner, r.env)
	if r.contextEnded(ctx) { // nothing was seen
		return ""
	}
	r.res.Check = &got
	if got.Holds || got.Missing != "" || !first || r.res.End != "" {
		return ""
	}
	return toldOf(got, want.fails)
}

// finishWithTest has the agent name the test that it was to write.
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
