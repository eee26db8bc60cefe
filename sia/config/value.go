package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// value reads a node into a field of the settings.
func (r *fileReader) value(f Field, n ast.Node) {
	switch p := f.in(&r.settings).Addr().Interface().(type) {
	case *bool:
		if b, ok := n.(*ast.BoolNode); ok {
			*p = b.Value
			return
		}
		near := ""
		if s, ok := textOf(n); ok {
			near = map[string]string{"yes": "true", "on": "true", "no": "false", "off": "false"}[strings.ToLower(s)]
		}
		r.problem(n, f.Path, near, "want true or false; this is %s", describeNode(n))
	case *int:
		if v, ok := r.integer(f, n); ok {
			*p = v
		}
	case *float64:
		if v, ok := r.number(f, n); ok {
			*p = v
		}
	case *sia.Duration:
		if v, ok := r.duration(f, n); ok {
			*p = v
		}
	case *string:
		if v, ok := r.text(f, n); ok {
			*p = v
		}
	case *[]string:
		if v, ok := r.texts(f, n); ok {
			*p = v
		}
	}
}

func (r *fileReader) integer(f Field, n ast.Node) (int, bool) {
	s := tokenText(n)
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || !plainInt.MatchString(s) {
		r.problem(n, f.Path, "", "want a whole number from %s to %s; this is %s", formatNumber(f.Min), formatNumber(f.Max),
			describeNode(n))
		return 0, false
	}
	if float64(v) < f.Min || float64(v) > f.Max {
		r.problem(n, f.Path, "", "want a whole number from %s to %s; this is %d", formatNumber(f.Min), formatNumber(f.Max), v)
		return 0, false
	}
	return int(v), true
}

func (r *fileReader) number(f Field, n ast.Node) (float64, bool) {
	v, err := strconv.ParseFloat(tokenText(n), 64)
	if err != nil || math.IsNaN(v) || v < f.Min || v > f.Max {
		r.problem(n, f.Path, "", "want a number from %s to %s; this is %s", formatNumber(f.Min), formatNumber(f.Max),
			describeNode(n))
		return 0, false
	}
	return v, true
}

func (r *fileReader) duration(f Field, n ast.Node) (sia.Duration, bool) {
	want := fmt.Sprintf("want a duration from %s to %s, such as 30s, 15m or 1h30m", Format(secondsDuration(f.Min)),
		Format(secondsDuration(f.Max)))
	s, ok := textOf(n)
	if !ok {
		near := ""
		for _, unit := range []string{"s", "m", "h"} {
			d, err := time.ParseDuration(tokenText(n) + unit)
			if err == nil && d > 0 && d.Seconds() >= f.Min && d.Seconds() <= f.Max {
				near = tokenText(n) + unit
				break
			}
		}
		r.problem(n, f.Path, near, "%s; this is %s", want, describeNode(n))
		return 0, false
	}
	d, err := time.ParseDuration(s)
	if err != nil || d.Seconds() < f.Min || d.Seconds() > f.Max {
		r.problem(n, f.Path, "", "%s; this is %s", want, describeNode(n))
		return 0, false
	}
	return sia.Duration(d), true
}

func (r *fileReader) text(f Field, n ast.Node) (string, bool) {
	s, ok := textOf(n)
	if f.Form == Word {
		return r.word(f, n, s, ok)
	}
	if !ok {
		r.problem(n, f.Path, "", "want text; this is %s%s", describeNode(n), quoteHint(n))
		return "", false
	}
	if wrong := wrongText(f, s); wrong != "" {
		r.problem(n, f.Path, "", "%s", wrong)
		return "", false
	}
	return s, true
}

func (r *fileReader) word(f Field, n ast.Node, s string, ok bool) (string, bool) {
	for _, w := range f.Words {
		if ok && s == w {
			return s, true
		}
	}
	var words []string
	for _, w := range f.Words {
		if w == "" {
			w = `""`
		}
		words = append(words, w)
	}
	near := ""
	if ok {
		near = text.Nearest(s, f.Words)
	}
	want := words[len(words)-1]
	if len(words) > 1 {
		want = strings.Join(words[:len(words)-1], ", ") + " or " + want
	}
	r.problem(n, f.Path, near, "want %s; this is %s", want, describeNode(n))
	return "", false
}

func (r *fileReader) texts(f Field, n ast.Node) ([]string, bool) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		near := ""
		if s, isText := textOf(n); isText && len(s) < 60 {
			near = "[" + strconv.Quote(s) + "]"
		}
		r.problem(n, f.Path, near, `want a list, such as ["one", "two"]; this is %s`, describeNode(n))
		return nil, false
	}
	if len(seq.Values) > maxItems {
		r.problem(n, f.Path, "", "want at most %d items; these are %d", maxItems, len(seq.Values))
		return nil, false
	}
	good := true
	out := make([]string, 0, len(seq.Values))
	for i, item := range seq.Values {
		path := fmt.Sprintf("%s[%d]", f.Path, i)
		s, ok := textOf(item)
		switch {
		case !ok:
			r.problem(item, path, "", "want text; this is %s%s", describeNode(item), quoteHint(item))
			good = false
		case strings.TrimSpace(s) == "":
			r.problem(item, path, "", "is empty")
			good = false
		default:
			if wrong := wrongText(f, s); wrong != "" {
				r.problem(item, path, "", "%s", wrong)
				good = false
			}
		}
		out = append(out, s)
	}
	return out, good
}

// wrongText says what is wrong with a text, "" when nothing is.
func wrongText(f Field, s string) string {
	n := utf8.RuneCountInString(s)
	switch {
	case f.Min > 0 && strings.TrimSpace(s) == "":
		return "is empty; leave the line out to have the default"
	case float64(n) > f.Max:
		return fmt.Sprintf("has %d characters; at most %s are possible", n, formatNumber(f.Max))
	case strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f }):
		return "holds a control character"
	case f.Path == "memory.branch":
		return wrongBranch(s)
	case f.Path == "checks.protected":
		return wrongGlob(s)
	}
	return ""
}

// wrongBranch applies the rules of git-check-ref-format(1).
func wrongBranch(s string) string {
	bad := strings.HasPrefix(s, "-") || strings.HasPrefix(s, "/") || strings.HasSuffix(s, "/") ||
		strings.HasSuffix(s, ".") ||
		s == "@" || strings.ContainsAny(s, " ~^:?*[\\\n\t") || strings.Contains(s, "..") || strings.Contains(s, "//") ||
		strings.Contains(s, "@{")
	for _, part := range strings.Split(s, "/") {
		bad = bad || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	if bad {
		return fmt.Sprintf("%q can't be the name of a branch", s)
	}
	return ""
}

// textOf is the value of a node that is text.
func textOf(n ast.Node) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		if v.Value != nil {
			return v.Value.Value, true
		}
	}
	return "", false
}

// describeNode is what a value is, with the value where it is short.
func describeNode(n ast.Node) string {
	if s, ok := textOf(n); ok {
		if utf8.RuneCountInString(s) > 40 {
			s = string([]rune(s)[:40]) + "…"
		}
		return strconv.Quote(s)
	}
	if s := tokenText(n); s != "" && len(s) < 40 {
		return s
	}
	return nodeKind(n)
}

// quoteHint tells people that YAML takes 1.20 and no for something else than text.
func quoteHint(n ast.Node) string {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return "; put quotation marks around it"
	}
	return ""
}

func secondsDuration(s float64) sia.Duration { return sia.Duration(s * float64(time.Second)) }

func formatNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Format prints a value of a setting as the file would have it: durations
// without idle zeros, lists and empty texts as JSON.
func Format(v any) string {
	switch v := v.(type) {
	case sia.Duration:
		s := v.D().String()
		if strings.HasSuffix(s, "m0s") {
			s = strings.TrimSuffix(s, "0s")
		}
		if strings.HasSuffix(s, "h0m") {
			s = strings.TrimSuffix(s, "0m")
		}
		return s
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = strconv.Quote(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case string:
		if v == "" || strings.ContainsAny(v, " :#\"'\n\t[]{},&*!|>%@`") {
			return strconv.Quote(v)
		}
		return v
	case float64:
		return formatNumber(v)
	}
	return fmt.Sprint(v)
}
