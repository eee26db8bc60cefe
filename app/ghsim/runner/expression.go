package runner

import (
	"fmt"
	"regexp"
	"strings"
)

var expression = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)

// expand replaces each ${{ expression }} of a text by its value.
func expand(text string, value func(string) string) string {
	return expression.ReplaceAllStringFunc(text, func(m string) string {
		return value(expression.FindStringSubmatch(m)[1])
	})
}

// Condition evaluates a step's or job's if: the status functions, equality with
// a literal, a bare value, joined by && and ||. Without a status function it
// implies success().
// https://docs.github.com/en/actions/writing-workflows/choosing-what-your-workflow-does/evaluate-expressions-in-workflows-and-actions
func condition(raw any, failed bool, value func(string) string) bool {
	if raw == nil {
		return !failed
	}
	text := strings.TrimSpace(fmt.Sprint(raw))
	if m := expression.FindStringSubmatch(text); m != nil && m[0] == text {
		text = m[1]
	}
	status := false
	for _, f := range []string{"always()", "failure()", "success()", "cancelled()"} {
		status = status || strings.Contains(text, f)
	}
	if !status && failed {
		return false
	}
	for _, any := range strings.Split(text, "||") {
		all := true
		for _, term := range strings.Split(any, "&&") {
			all = all && truth(strings.TrimSpace(term), failed, value)
		}
		if all {
			return true
		}
	}
	return false
}

func truth(term string, failed bool, value func(string) string) bool {
	term = strings.Trim(term, "() ") + map[bool]string{true: "()"}[strings.HasSuffix(term, "()")]
	if rest, not := strings.CutPrefix(term, "!"); not && !strings.HasPrefix(rest, "=") {
		return !truth(strings.TrimSpace(rest), failed, value)
	}
	switch term {
	case "always()", "true":
		return true
	case "failure()":
		return failed
	case "success()":
		return !failed
	case "cancelled()", "false", "":
		return false
	}
	for op, want := range map[string]bool{"==": true, "!=": false} {
		if l, r, is := strings.Cut(term, op); is {
			return strings.EqualFold(operand(l, value), operand(r, value)) == want
		}
	}
	v := operand(term, value)
	return v != "" && v != "false" && v != "0"
}

func operand(s string, value func(string) string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && s[0] == '\'' && s[len(s)-1] == '\'' {
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	}
	if s == "true" || s == "false" || s != "" && strings.Trim(s, "0123456789.-") == "" {
		return s
	}
	return value(s)
}
