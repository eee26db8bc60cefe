package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed failure.md
var failureDescription string

// FailedCheck is a check that failed on an earlier attempt.
type FailedCheck struct {
	Name  string
	Class string // of the failure, such as "test"; may be empty
	Text  string // the part of its log that tells why, secrets masked; not trusted
}

// FailureTool shows what failing checks of the last attempt printed.
func FailureTool() Tool {
	return Tool{Name: NameFailure, Description: failureDescription, Call: taking(failureArgs{Start: 1}, callFailure),
		Schema: json.RawMessage(`{"type":"object","properties":{
"check":{"type":"string","description":"name of the check"},
"start":{"type":"integer","minimum":1,"description":"first line; default 1"}}}`)}
}

type failureArgs struct {
	Check string `json:"check"`
	Start int    `json:"start"`
}

// callFailure shows one page of a check, or lists the checks.
func callFailure(_ context.Context, env Env, a failureArgs) (Result, error) {
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
		return failurePage(env.Failures[0], a.Start)
	case a.Check == "":
		return Result{Text: listFailures(env.Failures)}, nil
	}
	for _, f := range env.Failures {
		if f.Name == a.Check || shownName(f) == a.Check {
			return failurePage(f, a.Start)
		}
	}
	return Result{}, fmt.Errorf("no check called %s failed; these did: %s", quotePath(a.Check), strings.Join(names, ", "))
}

// listFailures says which checks failed.
func listFailures(all []FailedCheck) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s: %s, %d lines\n", shownName(f), strings.ReplaceAll(f.Class, "_", " "), len(splitLines(f.Text)))
	}
	b.WriteString("[name one of them in check]\n")
	return cutResult(b.String(), MaxResult)
}

// shownName is a check's name as the list has it.
func shownName(f FailedCheck) string {
	name, _ := showHidden(clipLine(f.Name))
	return name
}

// failurePage shows lines of a failure from start on.
func failurePage(f FailedCheck, start int) (Result, error) {
	all := splitLines(f.Text)
	if start > max(1, len(all)) {
		return Result{}, fmt.Errorf("what %s printed has %d lines; start %d is beyond its end", quotePath(f.Name), len(all),
			start)
	}
	var b strings.Builder
	for i, line := range all[min(start-1, len(all)):] {
		n := start + i
		text, _ := showHidden(cutLine(line))
		if i == pageLines || b.Len()+len(text) > MaxResult-400 && i > 0 {
			fmt.Fprintf(&b, "[more lines; go on with start %d]\n", n)
			break
		}
		fmt.Fprintf(&b, "%6d\t%s\n", n, text)
	}
	if b.Len() == 0 {
		b.WriteString("[it printed nothing that tells why]\n")
	}
	return Result{Text: cutResult(b.String(), MaxResult)}, nil
}

// splitLines are the lines of a text, without an end.
func splitLines(text string) []string {
	if text = strings.TrimRight(strings.ToValidUTF8(text, "\uFFFD"), "\r\n"); text == "" {
		return nil
	}
	list := strings.Split(text, "\n")
	for i, l := range list {
		list[i] = strings.TrimSuffix(l, "\r")
	}
	return list
}
