package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia/stuck"
)

// changing are the tools whose saved calls are made again in a work tree that is
// not the one they were made in. What commands changed is not: the agent is told.
var changing = []string{tool.NameEdit, tool.NameWrite, tool.NamePatch, tool.NameDelete}

// errMasked says why a saved call can't be made again.
const errMasked = "its text was masked in the transcript"

// resumable are the brief and the answers among saved turns; ok is false when
// there is nothing to go on from.
func resumable(saved []Turn) (brief Turn, answers []Turn, ok bool) {
	for _, t := range saved {
		switch t.Kind {
		case TurnBrief:
			brief = t
		case TurnModel:
			answers = append(answers, t)
		}
	}
	return brief, answers, brief.Kind == TurnBrief && len(answers) > 0
}

// take makes the budget what the saved turns left of it: their turns, their cost
// and their time are used, once and for all.
func (b *budget) take(saved []Turn) {
	brief, answers, ok := resumable(saved)
	if !ok {
		return
	}
	for _, t := range answers {
		b.turns++
		b.spent += t.Cost
		b.usage = b.usage.Add(t.Usage)
		b.warned = b.warned || strings.Contains(t.Note, toldToFinish)
	}
	if spent := answers[len(answers)-1].At.Sub(brief.At); spent > 0 {
		b.started = b.started.Add(-spent)
	}
}

// resume takes up the attempt where its saved turns end: the conversation is put
// together again, the work tree where it must be, and calls that were answered
// but not carried out are carried out.
func (r *run) resume(ctx context.Context, brief Turn, answers []Turn) error {
	r.conv.begin(r.system(), brief.Text)
	was := strings.Split(brief.Note, "\n")
	r.notes = slices.DeleteFunc(r.notes, func(n string) bool { return slices.Contains(was, n) })
	r.notes = append(r.notes, fmt.Sprintf("resumed after the process ended: %d answers were taken up from the transcript", len(answers)))
	var trouble []string
	if r.in.Rebuild {
		r.notes = append(r.notes, "the work tree was made anew, and the saved changes were made again in it")
		trouble = r.rebuild(ctx, answers)
	}
	last := answers[len(answers)-1]
	open := slices.ContainsFunc(last.Calls, func(c Call) bool { return c.Result == "" })
	if open {
		answers = answers[:len(answers)-1]
	}
	for _, t := range answers {
		r.recall(ctx, t)
	}
	if open {
		if err := r.finishTurn(ctx, last); err != nil {
			return err
		}
	}
	if len(trouble) > 0 && r.res.End == "" {
		r.say("told what could not be made again: "+strings.Join(trouble, "; "),
			"The machine was changed in the midst of this attempt, and the work tree was made anew. What you had changed with tools was changed again, but for what follows. Look at these files before you go on, and run again the commands that you need the results of.\n\n"+
				untrusted(condensedSource, "- "+strings.Join(trouble, "\n- ")))
	}
	return nil
}

// rebuild makes the saved changes again and says which it could not.
func (r *run) rebuild(ctx context.Context, answers []Turn) (trouble []string) {
	for _, t := range answers {
		for _, c := range t.Calls {
			what := func(why string) string { return fmt.Sprintf("answer %d, %s: %s", t.Number, c.note(), why) }
			switch {
			case c.Result == "" || c.IsError || len(c.Changed) == 0:
			case !slices.Contains(changing, c.Name):
				trouble = append(trouble, what("it changed "+oneLine(strings.Join(c.Changed, ", "), 300)))
			case c.Masked:
				trouble = append(trouble, what(errMasked))
			default:
				if err := r.again(ctx, c); err != nil {
					trouble = append(trouble, what(oneLine(err.Error(), 200)))
				}
			}
		}
	}
	const most = 30
	if over := len(trouble) - most; over > 0 {
		trouble = append(trouble[:most], fmt.Sprintf("and %d more", over))
	}
	return trouble
}

// again makes a saved call once more.
func (r *run) again(ctx context.Context, c Call) error {
	for _, t := range r.tools {
		if t.Name() == c.Name {
			_, err := t.Call(ctx, r.env, json.RawMessage(c.Arguments))
			return err
		}
	}
	return fmt.Errorf("there is no tool %s here", c.Name)
}

// recall puts an answer whose calls were carried out back into the conversation,
// and lets it count for everything that watches the attempt. What the hazard says
// of it is left to the next answer, when the attempt is where it was.
func (r *run) recall(ctx context.Context, t Turn) {
	r.remember(t)
	understood := false
	for _, c := range t.Calls {
		r.conv.add(llm.Message{Role: llm.RoleTool, ToolCallID: c.ID, Content: c.Result})
		r.env.Changed = r.env.Changed || len(c.Changed) > 0
		used := r.tool(c.Name)
		understood = understood || used != nil && (c.Arguments == "" || json.Valid([]byte(c.Arguments)))
		switch {
		case used == nil || r.res.End != "":
		case !c.IsError && (c.Name == tool.NameFinish || c.Name == tool.NameAsk || c.Name == tool.NamePropose):
			r.recallEnd(ctx, used, c)
		default:
			polls := false
			if p, ok := used.(tool.Polling); ok {
				polls = p.Polls()
			}
			a := stuck.Action{Tool: c.Name, Args: canonical(c.Arguments), Result: c.Result, Error: c.IsError}
			if s := r.loop.call(a, polls, len(c.Changed) > 0); s != nil {
				r.stuck(*s)
			}
		}
	}
	if s := r.loop.turn(understood, len(t.Calls)); s != nil {
		r.stuck(*s)
	}
	r.conv.note(noteOf(t.Number, t.Text, t.Calls))
	if len(t.Calls) == 0 {
		r.spoken(llm.Response{Message: llm.Message{Content: t.Text}, Finish: t.Finish})
	} else {
		r.nudged = false
	}
	for _, text := range t.Told {
		r.conv.add(llm.Message{Role: llm.RoleUser, Content: text})
	}
}

// recallEnd ends an attempt that had ended when its process did. The tools that
// end one only look at their arguments.
func (r *run) recallEnd(ctx context.Context, used tool.Tool, c Call) {
	env := r.env
	env.Changed = env.Changed && c.Name != tool.NameAsk // it was allowed then
	if res, err := used.Call(ctx, env, json.RawMessage(c.Arguments)); err == nil {
		r.concluded(res)
	}
}

// remember adds a saved answer to the conversation.
func (r *run) remember(t Turn) llm.Response {
	m := llm.Message{Role: llm.RoleAssistant, Content: t.Text}
	for _, c := range t.Calls {
		m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	r.conv.add(m)
	r.named(t.Model)
	return llm.Response{Message: m, Finish: t.Finish, Model: t.Model}
}

// finishTurn carries out the calls of an answer that was saved without their
// results. They may have been carried out in part: then tools say so.
func (r *run) finishTurn(ctx context.Context, t Turn) error {
	resp := r.remember(t)
	masked := slices.ContainsFunc(t.Calls, func(c Call) bool { return c.Masked })
	if !masked {
		t.Calls = r.calls(ctx, resp)
		return r.close(ctx, t)
	}
	for i, c := range t.Calls {
		t.Calls[i].Result, t.Calls[i].IsError = "error: not carried out: the process ended, and "+errMasked+"; make the call again", true
		r.conv.add(llm.Message{Role: llm.RoleTool, ToolCallID: c.ID, Content: t.Calls[i].Result})
	}
	return r.close(ctx, t)
}
