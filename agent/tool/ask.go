package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// maxOption is the maximum size of an option, in bytes.
const maxOption = 300

// AskTool asks a question and ends the attempt.
func AskTool() Tool {
	return newTool(NameAsk, askArgs{}, callAsk, `{"type":"object","properties":{
"question":{"type":"string","description":"one question, answerable by choosing"},
"why":{"type":"string","description":"what in the task is ambiguous, and what depends on it"},
"options":{"type":"array","minItems":2,"maxItems":4,"items":{"type":"string"},
"description":"possible answers, the fastest to carry out first"}},
"required":["question","why","options"]}`)
}

type askArgs struct {
	Question string   `json:"question"`
	Why      string   `json:"why"`
	Options  []string `json:"options"`
}

// callAsk ends the attempt with the question, unless a file was changed.
func callAsk(_ context.Context, env Env, a askArgs) (Result, error) {
	switch {
	case !env.CanAsk:
		return Result{}, errors.New("no question can be asked in this attempt; choose what fits the repository best, and " +
			"say so in the summary")
	case env.Changed:
		return Result{}, errors.New("questions are for the time before the first change; choose what fits the repository " +
			"best, and say so in the summary")
	case strings.TrimSpace(a.Question) == "" || len(a.Question) > MaxQuestion:
		return Result{}, fmt.Errorf("question must have 1 to %d bytes", MaxQuestion)
	case strings.TrimSpace(a.Why) == "" || len(a.Why) > MaxQuestion:
		return Result{}, fmt.Errorf("why must have 1 to %d bytes", MaxQuestion)
	case len(a.Options) < 2 || len(a.Options) > 4:
		return Result{}, fmt.Errorf("there must be 2 to 4 options, not %d", len(a.Options))
	}
	seen := map[string]bool{}
	for i, o := range a.Options {
		o = text.OneLine(o)
		if o == "" || len(o) > maxOption || seen[strings.ToLower(o)] {
			return Result{}, fmt.Errorf("option %d must have 1 to %d bytes and differ from the others", i+1, maxOption)
		}
		seen[strings.ToLower(o)] = true
		a.Options[i] = o
	}
	return Result{Text: "the question will be asked; the attempt ends here\n",
		Ask: &sia.Ask{Question: a.Question, Why: a.Why, Options: a.Options}}, nil
}
