package tool

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia/visible"
)

// FailedCheck is a check that failed on an earlier attempt.
type FailedCheck struct {
	Name  string
	Class string // of the failure, such as "test"; may be empty
	Text  string // relevant part of its log, secrets masked; untrusted
}

// FailureTool shows the output of failed checks of the last attempt.
func FailureTool() Tool {
	return newTool(NameFailure, failureArgs{Start: 1}, callFailure, `{"type":"object","properties":{
"check":{"type":"string","description":"name of the check"},
"start":{"type":"integer","minimum":1,"description":"first line; default 1"}}}`)
}

type failureArgs struct {
	Check string `json:"check"`
	Start int    `json:"start"`
}

// callFailure shows one page of a check's output, or lists the checks.
func callFailure(ctx context.Context, env Env, a failureArgs) (Result, error) {
	var names []string
	for _, f := range env.Failures {
		names = append(names, quotePath(f.Name))
	}
	switch {
	case a.Start < 1:
		return Result{}, fmt.Errorf("start must be at least 1")
	case len(env.Failures) == 0:
		return Result{}, fmt.Errorf("no check failed on an earlier attempt")
	case a.Check == "" && len(env.Failures) == 1:
		return failurePage(ctx, env.Failures[0], a.Start)
	case a.Check == "":
		return Result{Text: listFailures(env.Failures)}, nil
	}
	for _, f := range env.Failures {
		if f.Name == a.Check || shownName(f) == a.Check {
			return failurePage(ctx, f, a.Start)
		}
	}
	return Result{}, fmt.Errorf("no check called %s failed; these did: %s", quotePath(a.Check), strings.Join(names, ", "))
}

// listFailures lists the failed checks.
func listFailures(all []FailedCheck) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s: %s, %d lines\n", shownName(f), strings.ReplaceAll(f.Class, "_", " "),
			len(splitEnds(strings.TrimRight(f.Text, "\r\n"))))
	}
	b.WriteString("[name one of them in check]\n")
	return cutResult(b.String(), MaxResult)
}

// shownName returns a check's name as shown in the list.
func shownName(f FailedCheck) string {
	name, _ := showHidden(clipLine(f.Name))
	return name
}

// failurePage returns lines of a failure, from start.
func failurePage(ctx context.Context, f FailedCheck, start int) (Result, error) {
	in := bufio.NewReader(strings.NewReader(visible.BreakTurns(strings.TrimRight(f.Text, "\r\n"))))
	page, n, _, err := numberedLines(ctx, in, start, pageLines)
	switch {
	case err != nil:
		return Result{}, err
	case page == "" && start > 1:
		return Result{}, fmt.Errorf("what %s printed has %d lines; start %d is beyond its end", quotePath(f.Name), n, start)
	case page == "":
		page = "[it printed nothing that tells why]\n"
	}
	return Result{Text: cutResult(page, MaxResult)}, nil
}
