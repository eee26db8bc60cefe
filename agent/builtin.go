package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
)

// Model is the model that the builtin agent calls: an [llm.Client], or an [llm.Chain] of several. It is safe for
// concurrent use.
type Model interface {
	Complete(ctx context.Context, req llm.Request) (llm.Response, error)
	Model() string    // the endpoint's name of the model; for a chain, of the first one
	Price() llm.Price // maximum cost of a call, in USD per million tokens
	Window() int      // context window in tokens, output included
	MaxOutput() int   // maximum output tokens of a call
}

// BuiltinConfig is the configuration of [NewBuiltin].
type BuiltinConfig struct {
	Model    Model
	Tools    []tool.Tool // nil: package tool's that fit Edit, and those that run commands if any can be run
	Edit     EditFormat  // how the model changes files; "": by the model's family
	Commands *Commands   // runs those of the repository and the agent; nil: none are run
	Now      func() time.Time
	Logger   *slog.Logger
}

// BuiltinAgent is the agent that ships with SIA: a loop that calls a model, carries out the tool calls in its answer,
// and calls it again.
type BuiltinAgent struct {
	model    Model
	format   EditFormat
	tools    []tool.Tool
	allTools []tool.Tool // tools of all formats; nil: tools or a format are configured
	commands *Commands
	now      func() time.Time
	log      *slog.Logger
}

// NewBuiltin checks cfg and returns the agent. It adds the finish tool if missing, since an attempt needs a way to end.
func NewBuiltin(cfg BuiltinConfig) (*BuiltinAgent, error) {
	if cfg.Model == nil {
		return nil, errors.New("make the builtin agent: no model is configured for it")
	}
	b := &BuiltinAgent{model: cfg.Model, format: cmp.Or(cfg.Edit, EditFormatOf(cfg.Model.Model())),
		tools: slices.Clone(cfg.Tools), commands: cfg.Commands, now: cfg.Now, log: cfg.Logger}
	if b.tools == nil {
		allTools := tool.DefaultTools()
		if cfg.Commands.Runs() {
			allTools = append(allTools, tool.SandboxTools()...)
		}
		if b.tools = b.format.filterTools(allTools); cfg.Edit == "" {
			b.allTools = allTools
		}
	}
	names := map[string]bool{}
	for _, t := range b.tools {
		if names[t.Name] {
			return nil, fmt.Errorf("make the builtin agent: two tools are called %s", t.Name)
		}
		names[t.Name] = true
	}
	if !names[tool.NameFinish] {
		b.tools = append(b.tools, tool.FinishTool())
	}
	return b, nil
}

// builtinPrefix is the prefix of the names of builtin agents.
const builtinPrefix = "builtin/"

// IsBuiltin reports whether a name in [Result.Agent] is of a builtin agent with some of the models.
func IsBuiltin(name string, models []string) bool {
	joined, ok := strings.CutPrefix(name, builtinPrefix)
	return ok && isJoined(joined, models)
}

// isJoined reports whether text consists of different models, with "+" between them; their names may contain it.
func isJoined(text string, models []string) bool {
	for _, m := range models {
		rest, ok := strings.CutPrefix(text, m)
		if ok && rest == "" {
			return true
		}
		more, joined := strings.CutPrefix(rest, "+")
		others := slices.DeleteFunc(slices.Clone(models), func(other string) bool { return other == m })
		if ok && joined && isJoined(more, others) {
			return true
		}
	}
	return false
}

// Name returns "builtin/" and the model's name.
func (b *BuiltinAgent) Name() string { return builtinPrefix + b.model.Model() }

// Tools returns the names of the tools that attempts have, unless a brief removes some.
func (b *BuiltinAgent) Tools() []string { return toolNames(b.tools) }

// Run makes one attempt; see [Agent].
func (b *BuiltinAgent) Run(ctx context.Context, in Input, rec Recorder) (Result, error) {
	root, err := os.OpenRoot(in.Dir)
	if err != nil {
		return Result{End: sia.EndError}, fmt.Errorf("open work tree: %w", err)
	}
	defer root.Close()
	b = b.withSuitedFormat(in.Previous, in.Edits)
	if in.Planning {
		in = in.forPlanning()
	}
	r := &builtinRun{
		BuiltinAgent: b, in: in,
		turnJournal: turnJournal{rec: rec, budget: newBudget(in.Limits, b.model.Price(), b.now)},
		env: tool.Env{Root: root, CanAsk: in.CanAsk, Test: in.Test, Failures: in.Failures, Past: in.Past,
			Cover: in.Cover},
		loop: loopDetector{hazard: in.Hazard, observeOnly: in.Spare, ignoreIdle: in.Planning},
	}
	if in.Planning {
		r.budget.closing = planClosing
	}
	r.budget.bookSaved(in.Saved)
	res, err := r.attempt(ctx)
	b.log.InfoContext(ctx, "attempt ended", "task", in.Task, "attempt", in.Attempt,
		"end", res.End, "reason", res.Reason, "turns", res.Turns, "credits", res.Cost.String(), "edit_format", b.format,
		"edits", res.Edits.Made, "failed_edits", res.Edits.Failed)
	return res, err
}

// offerTools returns the tools that the brief allows, in their usual order. The finish tool is always included; the
// failure tool only if something failed. A brief that leaves no other tool, or none that edits, is ignored, with a note.
func offerTools(all []tool.Tool, brief sia.Brief, canAsk, failed bool) (offered []tool.Tool, notes []string) {
	known := map[string]bool{}
	for _, t := range all {
		known[t.Name] = true
	}
	for _, name := range slices.Concat(brief.Tools, brief.WithoutTools) {
		if !known[name] {
			notes = append(notes, fmt.Sprintf("the brief names a tool that there is not: %s", clipLine(name, 60)))
		}
	}
	if !failed {
		all = slices.DeleteFunc(slices.Clone(all), func(t tool.Tool) bool { return t.Name == tool.NameFailure })
	}
	choose := func(wanted func(string) bool) (list []tool.Tool) {
		for _, t := range all {
			n := t.Name
			if n == tool.NameFinish || wanted(n) && (n != tool.NameAsk || canAsk) {
				list = append(list, t)
			}
		}
		return list
	}
	offered = choose(func(n string) bool {
		return (len(brief.Tools) == 0 || slices.Contains(brief.Tools, n)) && !slices.Contains(brief.WithoutTools, n)
	})
	if len(offered) == 1 && len(all) > 1 || slices.ContainsFunc(all, editsFiles) && !slices.ContainsFunc(offered, editsFiles) {
		offered = choose(func(string) bool { return true })
		notes = append(notes, "the brief leaves no tool to work with; all are offered")
	}
	if len(offered) < len(all) {
		notes = append(notes, "tools offered: "+strings.Join(toolNames(offered), ", "))
	}
	return offered, notes
}

// editsFiles reports whether a tool changes the text of files.
func editsFiles(t tool.Tool) bool {
	return t.Name == tool.NameEdit || t.Name == tool.NamePatch || t.Name == tool.NameWrite
}

func toolNames(tools []tool.Tool) []string {
	list := make([]string, len(tools))
	for i, t := range tools {
		list[i] = t.Name
	}
	return list
}

// ToolSpecs returns the tools that an attempt offers to a model if commands can be run, for probing the model.
func ToolSpecs(model string) []llm.ToolSpec {
	list, _ := toolSpecs(append(EditFormatOf(model).filterTools(tool.DefaultTools()), tool.SandboxTools()...))
	return list
}

// toolSpecs returns the tools in the model's format, and their size in tokens.
func toolSpecs(tools []tool.Tool) (list []llm.ToolSpec, tokens int) {
	for _, t := range tools {
		s := llm.ToolSpec{Name: t.Name, Description: strings.TrimSpace(t.Description), Parameters: t.Schema}
		list = append(list, s)
		tokens += s.Tokens()
	}
	return list, tokens
}
