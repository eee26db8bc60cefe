package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/text"
)

// Limits of a run.
const (
	maxCalls = 16 // calls of one answer that are carried out
	// consecutive answers without a complete text or a call before the attempt ends; some endpoints return an empty
	// answer now and then (https://github.com/BerriAI/litellm/pull/24453)
	maxUnfinished = 4
	idleNudge     = fullIdle * 2 / 3 // turns without a change before the agent is reminded
)

// warnedPrefix begins the note that the agent was warned of the end.
const warnedPrefix = "told to finish: "

// builtinRun is a running attempt.
type builtinRun struct {
	*BuiltinAgent
	turnJournal
	in     Input
	env    tool.Env
	loop   loopDetector
	runner *attemptRunner // nil: no commands are run

	conv       conversation
	offered    []tool.Tool
	specs      []llm.ToolSpec
	toolTokens int // tokens of the tools' descriptions

	models           []string    // models that answered, in order of their first answers
	lastModel        string      // model that answered last
	lostCost         sia.Credits // cost of unanswered calls since the last turn
	lostUsage        llm.Usage
	edits            sia.Edits
	sent             []string // messages to the agent since the last turn was saved
	sentBack         bool     // a finish call was answered with a message instead of the end
	nudged           bool     // the last answer was a text, and the agent was told to continue
	unfinished       int      // consecutive answers without a complete text or a call
	cutWhileThinking int      // consecutive answers that were cut off while thinking, near the maximum length
	lostTree         error    // error with which the work tree was discarded; nil: it was not
	res              Result
}

// attempt runs the loop to its end and records the result.
func (r *builtinRun) attempt(ctx context.Context) (Result, error) {
	ctx, cancel := r.budget.withTimeLimit(ctx)
	defer cancel()
	defer func() { r.runner.close() }()
	err := r.begin(ctx)
	for err == nil && r.res.End == "" {
		err = r.takeTurn(ctx)
	}
	if err == nil && r.res.End == sia.EndFinished && r.in.Part != nil && r.res.Check == nil {
		r.verifyPart(ctx, "")
	}
	r.res.Edits = r.edits
	r.res.Turns, r.res.Cost, r.res.Usage, r.res.Risk = r.budget.turns, r.budget.spent, r.budget.usage, r.loop.highest
	r.res.Reason, r.res.Summary = secret.Mask(r.res.Reason), secret.Mask(r.res.Summary)
	if err != nil {
		r.res.End = sia.EndError
		r.res.Reason = secret.Mask(err.Error())
	}
	end := Turn{Number: r.budget.turns + 1, Kind: TurnEnd, Text: endText(r.res), Cost: r.lostCost, Usage: r.lostUsage}
	if saved := r.recordTurn(ctx, end); err == nil {
		err = saved
	}
	return r.res, err
}

// begin assembles the prompt, or resumes the saved turns.
func (r *builtinRun) begin(ctx context.Context) error {
	if r.in.Planning {
		r.offered = planTools(r.tools, r.in.CanAsk, len(r.in.Failures) > 0, r.in.Divide)
	} else {
		r.offered, r.notes = offerTools(r.tools, r.in.Brief, r.in.CanAsk, len(r.in.Failures) > 0)
		r.finishWithTest()
		if family := EditFormatOf(r.model.Model()); r.allTools != nil && r.format != family {
			r.notes = append(r.notes, fmt.Sprintf("files are changed with %s: too many edits with %s failed before", r.format,
				family))
		}
	}
	setup, err := r.setUp(ctx)
	if err != nil {
		return err
	}
	r.specs, r.toolTokens = toolSpecs(r.offered)
	r.lostCost, r.lostUsage = unansweredUsage(r.in.Saved)
	if brief, answers, ok := resumePoint(r.in.Saved); ok {
		return r.resumeAttempt(ctx, brief, answers)
	}
	room := r.model.Window() - r.model.MaxOutput() - r.toolTokens - llm.CountTokens(r.systemText())
	text, notes := assemblePrompt(ctx, r.in, r.env, setup, min(maxPrompt, max(500, room/2)))
	r.notes = append(r.notes, notes...)
	r.conv.beginWith(r.systemText(), text)
	return r.recordTurn(ctx, Turn{Kind: TurnBrief, Text: text})
}

// systemText returns the system prompt.
func (r *builtinRun) systemText() string {
	switch {
	case r.in.Divide != nil:
		return strings.TrimSpace(dividePrompt)
	case r.in.Planning:
		return strings.TrimSpace(planPrompt)
	}
	return strings.TrimSpace(systemPrompt)
}

// takeTurn makes one model call and carries out the tool calls in the answer.
func (r *builtinRun) takeTurn(ctx context.Context) error {
	if r.contextEnded(ctx) {
		return nil
	}
	window := r.model.Window() - r.model.MaxOutput()
	if r.budget.correctEstimate(r.promptTokens()) > window {
		r.shorten(window*3/5, window*4/5)
	}
	limit, end, why := r.budget.nextCall(r.promptTokens(), r.model.MaxOutput())
	if end != "" {
		r.setEnd(end, why)
		return nil
	}
	prompt := r.promptTokens()
	resp, err := r.model.Complete(ctx, llm.Request{Messages: r.conv.messages(), Tools: r.specs, MaxOutput: limit})
	if err != nil {
		return r.handleError(ctx, resp, err)
	}
	turn := Turn{Kind: TurnModel, Text: resp.Message.Content, Usage: resp.Spent(), Model: resp.Model,
		Opaque: resp.Message.Opaque}
	turn.Cost = r.budget.bookAnswer(prompt, resp) + r.lostCost
	turn.Usage, r.lostCost, r.lostUsage = turn.Usage.Add(r.lostUsage), 0, llm.Usage{}
	turn.Number = r.budget.turns
	if resp.Finish == llm.FinishLength || resp.Finish == llm.FinishContentFilter {
		turn.Finish = resp.Finish
	}
	r.answeredBy(resp)
	r.conv.addMessage(resp.Message)
	if len(resp.Message.ToolCalls) == 0 {
		r.nudge(resp)
		return r.closeTurn(ctx, turn)
	}
	r.nudged, r.unfinished, r.cutWhileThinking = false, 0, 0
	for _, c := range resp.Message.ToolCalls {
		turn.Calls = append(turn.Calls, Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	// The answer is paid for, so it is saved before its calls, which may take minutes.
	if err := r.saveTurn(ctx, turn); err != nil {
		return err
	}
	turn.Calls = r.callTools(ctx, resp)
	if resp.Unread != "" && r.res.End == "" {
		r.tellAgent("told that one of its calls could not be read", unreadNudge(resp))
	}
	return errors.Join(r.closeTurn(ctx, turn), r.lostTree)
}

// closeTurn ends a turn after its calls were carried out.
func (r *builtinRun) closeTurn(ctx context.Context, t Turn) error {
	r.conv.noteLast(turnNote(t.Number, t.Text, t.Calls))
	if r.res.End == "" {
		r.advise()
	}
	t.Told, r.sent = append(t.Told, r.sent...), nil
	return r.recordTurn(ctx, t)
}

// promptTokens estimates the tokens of the next call's prompt.
func (r *builtinRun) promptTokens() int { return r.conv.total + r.toolTokens }

// shorten shortens the conversation to about bound tokens by the endpoint's count, or at least to most. It reports
// whether it changed anything.
func (r *builtinRun) shorten(bound, limit int) bool {
	estimate := func(tokens int) int { return int(float64(tokens)/r.budget.ratio) - r.toolTokens }
	note := r.conv.shorten(estimate(bound), estimate(limit))
	if note != "" {
		r.notes = append(r.notes, note)
	}
	return note != ""
}

// answeredBy adds a note if a different model answered than before.
func (r *builtinRun) answeredBy(resp llm.Response) {
	r.addModel(resp.Model)
	before := r.lastModel
	if before == "" && len(resp.Passed) == 0 || before == resp.Client {
		r.lastModel = resp.Client
		return
	}
	note := "answered by the model " + resp.Client
	if len(resp.Passed) > 0 {
		note += ", because others could not be asked (" + strings.Join(resp.Passed, ", ") + ")"
	}
	r.lastModel, r.notes = resp.Client, append(r.notes, note)
}

// addModel adds a model to the agent's name in the result.
func (r *builtinRun) addModel(model string) {
	if model != "" && !slices.Contains(r.models, model) {
		r.models = append(r.models, model)
		r.res.Agent = builtinPrefix + strings.Join(r.models, "+")
	}
}

// handleError handles a call without an answer.
func (r *builtinRun) handleError(ctx context.Context, resp llm.Response, err error) error {
	r.lostCost += r.budget.bookLoss(resp.Lost)
	r.lostUsage = r.lostUsage.Add(resp.Lost)
	if r.contextEnded(ctx) {
		return nil
	}
	var e *llm.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("ask the model: %w", err)
	}
	if e.Kind == llm.KindContextLength {
		if half := r.budget.correctEstimate(r.promptTokens()) / 2; !r.shorten(half, half) {
			r.setEnd(sia.EndError, "the conversation no longer fits the model's window")
		}
		return nil
	}
	return &sia.Error{
		Op:         fmt.Sprintf("attempt %d on %s#%d", r.in.Attempt, r.in.Repo, r.in.Issue),
		Message:    unansweredReason(err, e) + ". " + e.Advice(),
		Permanent:  !e.Temporary() || r.neverAnswers(e),
		RetryAfter: e.RetryAfter,
		Outage:     e.Kind == llm.KindNetwork || e.Kind == llm.KindOverloaded || e.Kind == llm.KindRateLimit,
		Err:        err,
	}
}

// neverAnswers reports whether the model has not answered in this attempt and the error looks permanent: a timeout, or
// an answer that violates the protocol. Users are notified of such errors immediately.
func (r *builtinRun) neverAnswers(e *llm.Error) bool {
	return r.budget.turns == 0 && (e.Kind == llm.KindTimeout || e.Kind == llm.KindMalformed)
}

// unansweredReason returns which models could not be called and why. first is the error that decides the handling.
func unansweredReason(err error, first *llm.Error) string {
	var all *llm.ChainError
	if !errors.As(err, &all) {
		return fmt.Sprintf("the model %s could not be asked (%s)", first.Client, first.Reason())
	}
	names := make([]string, len(all.Errors))
	for i, e := range all.Errors {
		names[i] = fmt.Sprintf("%s (%s)", e.Client, e.Reason())
	}
	return "no model could be asked: " + strings.Join(names, ", ")
}

// nudge tells the agent to continue after an answer that calls no tool.
func (r *builtinRun) nudge(resp llm.Response) {
	r.loop.endTurn(false, 0)
	if !r.needsNudge(resp) {
		return
	}
	nudge := nudgePrompt
	if r.in.Planning {
		nudge = planNudge
	}
	if resp.Unread != "" {
		nudge = unreadNudge(resp)
	}
	if resp.Finish == llm.FinishLength {
		nudge = "Your answer was cut off at the limit of its length: be brief. " + nudge
	}
	r.tellAgent("told to go on: the answer called no tool", strings.TrimSpace(nudge))
}

// CallsUnread is the prefix of the reason of an attempt that ended because the model's calls could not be parsed.
const CallsUnread = "the model's tool calls could not be read: "

// AnswersCut is the prefix of the reason of an attempt that ended because the model's answers were too long.
const AnswersCut = "the model's answers were cut off after "

// unreadNudge returns the message about a tool call in an answer's text that could not be parsed.
func unreadNudge(resp llm.Response) string {
	return "Your answer holds a tool call that could not be read: " + text.Clip(resp.Unread, 500) + ". Call the tool " +
		"through the API, or write `<tool_call>{\"name\": …, \"arguments\": {…}}</tool_call>` with valid JSON."
}

// needsNudge reports whether the agent is told to continue after an answer that calls no tool. The second such answer
// in a row ends the attempt.
func (r *builtinRun) needsNudge(resp llm.Response) (goOn bool) {
	content := strings.TrimSpace(resp.Message.Content)
	whole := content != "" && resp.Unread == "" && resp.Finish != llm.FinishLength && resp.Finish != llm.FinishPause
	if !whole {
		r.unfinished++
	}
	// A shorter answer makes the client raise its maximum length.
	if resp.CutWhileThinking() && resp.Usage.Output > r.model.MaxOutput()/2 {
		r.cutWhileThinking++
	}
	switch {
	case resp.Finish == llm.FinishContentFilter:
		r.setEnd(sia.EndError, "the model's provider withheld the answer (content filter)")
	case r.unfinished > maxUnfinished && resp.Unread != "":
		r.setEnd(sia.EndError, CallsUnread+text.Clip(resp.Unread, 300))
	case resp.Finish == llm.FinishLength && (r.unfinished > maxUnfinished || r.cutWhileThinking > 1): // so would the next
		r.setEnd(sia.EndError, fmt.Sprintf("%s%d tokens, before it called a tool; %s", AnswersCut, resp.Usage.Output,
			llm.CutAdvice(resp, r.model.MaxOutput())))
	case r.unfinished > maxUnfinished:
		r.setEnd(sia.EndError, fmt.Sprintf("%d answers in a row neither came to an end nor called a tool", r.unfinished))
	case whole && r.nudged:
		r.res.Summary = text.Clip(content, tool.MaxSummary)
		r.setEnd(sia.EndFinished, "")
	default:
		r.nudged = r.nudged || whole
		return true
	}
	return false
}

// advise warns the agent if the end is near or it has made no changes for long.
func (r *builtinRun) advise() {
	if w := r.budget.warning(); w != "" {
		r.tellAgent(warnedPrefix+w, w)
	}
	if r.loop.idle == idleNudge {
		r.tellAgent("told that nothing changes", fmt.Sprintf("You have not changed anything new for %d turns. Decide on a "+
			"change and make it, or call finish and say what is missing.", r.loop.idle))
	}
}

// tellAgent adds a message of SIA to the conversation and a note to the turn.
func (r *builtinRun) tellAgent(note, text string) {
	r.notes, r.sent = append(r.notes, note), append(r.sent, text)
	r.conv.addMessage(llm.Message{Role: llm.RoleUser, Content: text})
}

// setEnd sets how the attempt ends. Only the first call has an effect.
func (r *builtinRun) setEnd(end sia.AttemptEnd, why string) {
	if r.res.End == "" {
		r.res.End, r.res.Reason = end, why
	}
}

// contextEnded ends the attempt if ctx has ended, and reports whether it has.
func (r *builtinRun) contextEnded(ctx context.Context) bool {
	if ctx.Err() == nil {
		return false
	}
	r.setEnd(r.budget.contextEnd(ctx))
	return true
}
