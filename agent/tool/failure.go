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

// Failure shows what failing checks of the last attempt printed.
type Failure struct{}

type failureArgs struct {
	Check string `json:"check"`
	Start int    `json:"start"`
}

// Name is "failure".
func (Failure) Name() string { return NameFailure }

// Description is failure.md.
func (Failure) Description() string { return failureDescription }

// Schema describes the arguments.
func (Failure) Schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{
"check":{"type":"string","description":"name of the failing check; may be left out when there is one"},
"start":{"type":"integer","minimum":1,"description":"first line; default 1"}},
"additionalProperties":false}`)
}

// Call shows one page of a check, or lists the checks.
func (Failure) Call(_ context.Context, env Env, args json.RawMessage) (Result, error) {
	a := failureArgs{Start: 1}
	if err := decode(args, &a); err != nil {
		return Result{}, err
	}
	var names []string
	for _, f := range env.Failures {
		names = append(names, quote(f.Name))
	}
	switch {
	case a.Start < 1:
		return Result{}, fmt.Errorf("start must be at least 1")
	case len(env.Failures) == 0:
		return Result{}, fmt.Errorf("no check failed on an earlier attempt")
	case a.Check == "" && len(env.Failures) == 1:
		return page(env.Failures[0], a.Start)
	case a.Check == "":
		return Result{Text: listed(env.Failures)}, nil
	}
	for _, f := range env.Failures {
		if f.Name == a.Check {
			return page(f, a.Start)
		}
	}
	return Result{}, fmt.Errorf("no check called %s failed; these did: %s", quote(a.Check), strings.Join(names, ", "))
}

// listed says which checks failed.
func listed(all []FailedCheck) string {
	var b strings.Builder
	for _, f := range all {
		name, _ := show(oneLine(f.Name))
		fmt.Fprintf(&b, "%s: %s, %d lines\n", name, strings.ReplaceAll(f.Class, "_", " "), len(lines(f.Text)))
	}
	b.WriteString("[name one of them in check]\n")
	return clip(b.String(), MaxResult)
}

// page shows lines of a failure from start on.
func page(f FailedCheck, start int) (Result, error) {
	all := lines(f.Text)
	if start > max(1, len(all)) {
		return Result{}, fmt.Errorf("what %s printed has %d lines; start %d is beyond its end", quote(f.Name), len(all), start)
	}
	var b strings.Builder
	for i, line := range all[min(start-1, len(all)):] {
		n := start + i
		if i == pageLines || b.Len()+len(line) > MaxResult-400 && i > 0 {
			fmt.Fprintf(&b, "[more lines; go on with start %d]\n", n)
			break
		}
		if len(line) > maxLine {
			line = strings.ToValidUTF8(line[:maxLine], "") + " […]"
		}
		text, _ := show(line)
		fmt.Fprintf(&b, "%6d\t%s\n", n, text)
	}
	if b.Len() == 0 {
		b.WriteString("[it printed nothing that tells why]\n")
	}
	return Result{Text: clip(b.String(), MaxResult)}, nil
}

// lines are the lines of a text, without an end.
func lines(text string) []string {
	if text = strings.TrimRight(strings.ToValidUTF8(text, "\uFFFD"), "\r\n"); text == "" {
		return nil
	}
	list := strings.Split(text, "\n")
	for i, l := range list {
		list[i] = strings.TrimSuffix(l, "\r")
	}
	return list
}
