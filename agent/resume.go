package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/stuck"
)

// replayedTools are the tools with calls that are repeated in a new work tree. Commands are not run again: the agent is
// told which files they had changed.
var replayedTools = []string{tool.NameEdit, tool.NameWrite, tool.NamePatch, tool.NameDelete}

// errMasked is the reason why a saved call can't be repeated.
const errMasked = "its text was masked in the transcript"

// resumePoint returns the brief and the answers of saved turns; ok is false if there is nothing to resume.
func resumePoint(saved []Turn) (brief Turn, answers []Turn, ok bool) {
	for _, t := range saved {
		switch t.Kind {
		case TurnBrief:
			if t.Number == 0 { // others were sent later in the attempt
				brief = t
			}
		case TurnModel:
			answers = append(answers, t)
		}
	}
	return brief, answers, brief.Kind == TurnBrief && len(answers) > 0
}

// bookSaved charges the turns, the cost and the time of the saved turns.
func (b *attemptBudget) bookSaved(saved []Turn) {
	for _, t := range saved {
		b.spent += t.Cost
		b.usage = b.usage.Add(t.Usage)
		b.warned = b.warned || strings.Contains(t.Note, warnedPrefix)
	}
	brief, answers, ok := resumePoint(saved)
	if !ok {
		return
	}
	b.turns = len(answers)
	last := answers[len(answers)-1]
	if used := cmp.Or(last.Used, last.At.Sub(brief.At)); used > 0 {
		b.started = b.started.Add(-used)
	}
}

// unansweredUsage returns the usage of unanswered calls in the last saved turn, if that is the end. The next answer
// takes its number, so that usage must be carried over.
func unansweredUsage(saved []Turn) (sia.Credits, llm.Usage) {
	if n := len(saved); n > 0 && saved[n-1].Kind == TurnEnd {
		return saved[n-1].Cost, saved[n-1].Usage
	}
	return 0, llm.Usage{}
}

// resumeAttempt continues the attempt after its saved turns. It restores the conversation, rebuilds the work tree if
// needed, and carries out the calls that are outstanding.
func (r *builtinRun) resumeAttempt(ctx context.Context, brief Turn, answers []Turn) error {
	r.conv.beginWith(r.systemText(), brief.Text)
	was := strings.Split(brief.Note, "\n")
	r.notes = slices.DeleteFunc(r.notes, func(n string) bool { return slices.Contains(was, n) })
	r.notes = append(r.notes, fmt.Sprintf("resumed: %d answers were taken up from the transcript",
		len(answers)))
	var trouble []string
	if r.in.Rebuild {
		r.notes = append(r.notes, "the work tree was made anew, and the saved changes were made again in it")
		trouble = r.rebuildTree(ctx, answers)
	}
	last := answers[len(answers)-1]
	open := slices.ContainsFunc(last.Calls, func(c Call) bool { return c.Result == "" })
	if open {
		answers = answers[:len(answers)-1]
	}
	for _, t := range answers {
		for _, c := range t.Calls {
			r.countEdit(c)
		}
		r.restoreTurn(ctx, t)
	}
	if open {
		if err := r.finishTurn(ctx, last); err != nil {
			return err
		}
	}
	if len(trouble) > 0 && r.res.End == "" {
		r.tellAgent("told what could not be made again: "+strings.Join(trouble, "; "),
			"The machine was changed in the midst of this attempt, and the work tree was made anew. What you had changed "+
				"with tools was changed again, but for what follows. Look at these files before you go on, and run again the "+
				"commands that you need the results of.\n\n"+
				wrapUntrusted(condensedSource, "- "+strings.Join(trouble, "\n- ")))
	}
	return nil
}

// rebuildTree repeats the saved changes and returns a description of those it could not repeat.
func (r *builtinRun) rebuildTree(ctx context.Context, answers []Turn) (trouble []string) {
	for _, t := range answers {
		for _, c := range t.Calls {
			what := func(why string) string { return fmt.Sprintf("answer %d, %s: %s", t.Number, c.note(), why) }
			switch {
			case c.Result == "" || c.IsError || len(c.Changed) == 0:
			case !slices.Contains(replayedTools, c.Name):
				trouble = append(trouble, what("it changed "+clipLine(strings.Join(c.Changed, ", "), 300)))
			case c.Masked:
				trouble = append(trouble, what(errMasked))
			default:
				if err := r.repeatCall(ctx, c); err != nil {
					trouble = append(trouble, what(clipLine(err.Error(), 200)))
				}
			}
		}
	}
	const limit = 30
	if over := len(trouble) - limit; over > 0 {
		trouble = append(trouble[:limit], fmt.Sprintf("and %d more", over))
	}
	return trouble
}

// repeatCall repeats a saved call.
func (r *builtinRun) repeatCall(ctx context.Context, c Call) error {
	for _, t := range r.tools {
		if t.Name == c.Name {
			_, err := t.Call(ctx, r.env, json.RawMessage(c.Arguments))
			return err
		}
	}
	return fmt.Errorf("there is no tool %s here", c.Name)
}

// restoreTurn adds an answer with its results to the conversation and to the state that depends on it. The hazard is
// evaluated only at the next answer.
func (r *builtinRun) restoreTurn(ctx context.Context, t Turn) {
	r.restoreAnswer(t)
	understood := false
	for _, c := range t.Calls {
		r.conv.addMessage(llm.Message{Role: llm.RoleTool, ToolCallID: c.ID, Content: c.modelText()})
		r.countLessons(c)
		r.noteChanged(c)
		if c.Check != nil {
			r.res.Check = c.Check
		}
		if c.Affected != nil {
			r.res.Affected = c.Affected
		}
		used, offered := r.toolNamed(c.Name)
		understood = understood || offered && (c.Arguments == "" || json.Valid([]byte(c.Arguments)))
		switch {
		case !offered || r.res.End != "":
		case !c.IsError && (c.Name == tool.NameFinish || c.Name == tool.NameAsk || c.Name == tool.NamePropose) &&
			r.restoreEnd(ctx, used, c):
		default:
			r.sentBack = r.sentBack || c.Name == tool.NameFinish && !c.IsError
			a := stuck.Action{Tool: c.Name, Args: canonicalArgs(c.Arguments), Result: c.Result, Error: c.IsError}
			if s := r.loop.addCall(a, len(c.Changed) > 0); s != nil {
				r.endStuck(*s)
			}
		}
	}
	if s := r.loop.endTurn(understood, len(t.Calls)); s != nil {
		r.endStuck(*s)
	}
	r.conv.noteLast(turnNote(t.Number, t.Text, t.Calls))
	if len(t.Calls) == 0 {
		r.needsNudge(llm.Response{Message: llm.Message{Content: t.Text}, Finish: t.Finish, Usage: t.Usage})
	} else {
		r.nudged, r.unfinished, r.cutWhileThinking = false, 0, 0
	}
	for _, text := range t.Told {
		r.conv.addMessage(llm.Message{Role: llm.RoleUser, Content: text})
	}
}

// restoreEnd ends an attempt that had ended before its process did, and reports whether it had. It repeats the call,
// since the tools that end an attempt only read their arguments. If the saved result differs from the tool's, the agent
// had been told to continue.
func (r *builtinRun) restoreEnd(ctx context.Context, used tool.Tool, c Call) bool {
	env := r.env
	env.Changed = env.Changed && c.Name != tool.NameAsk // it was allowed at that time
	res, err := used.Call(ctx, env, json.RawMessage(c.Arguments))
	return err == nil && secret.Mask(res.Text) == c.Result && r.endIfFinal(res)
}

// restoreAnswer adds a saved answer to the conversation.
func (r *builtinRun) restoreAnswer(t Turn) llm.Response {
	m := llm.Message{Role: llm.RoleAssistant, Content: t.Text, Opaque: t.Opaque}
	for _, c := range t.Calls {
		m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	r.conv.addMessage(m)
	r.addModel(t.Model)
	return llm.Response{Message: m, Finish: t.Finish, Model: t.Model}
}

// finishTurn carries out the calls of an answer that was saved without results. If a call was already carried out, the
// tool's result shows that.
func (r *builtinRun) finishTurn(ctx context.Context, t Turn) error {
	resp := r.restoreAnswer(t)
	masked := slices.ContainsFunc(t.Calls, func(c Call) bool { return c.Masked })
	if !masked {
		t.Calls = r.callTools(ctx, resp)
		return r.closeTurn(ctx, t)
	}
	for i, c := range t.Calls {
		t.Calls[i].Result, t.Calls[i].IsError = "error: not carried out: the process ended, and "+errMasked+
			"; make the call again", true
		r.conv.addMessage(llm.Message{Role: llm.RoleTool, ToolCallID: c.ID, Content: t.Calls[i].Result})
	}
	return r.closeTurn(ctx, t)
}
