package yamlfile

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/sia-bot/sia/sia/text"
)

// MaxItems is the maximum number of items of a list.
const MaxItems = 100

const maxShown = 40 // maximum length of a value in a message, in characters

func isDuration(t reflect.Type) bool { return t.Kind() == reflect.Int64 && t.Name() == "Duration" }

func (f *File) boolean(n ast.Node, path string, into reflect.Value) {
	if b, ok := n.(*ast.BoolNode); ok {
		into.SetBool(b.Value)
		return
	}
	s, _ := textOf(n)
	near := map[string]string{"yes": "true", "on": "true", "no": "false", "off": "false"}[strings.ToLower(s)]
	f.problem(n.GetToken(), path, near, "want true or false; this is %s", f.describe(n))
}

// plainInt matches a decimal integer of YAML 1.2's core schema.
var plainInt = regexp.MustCompile(`^[-+]?[0-9]+$`)

func (f *File) integer(n ast.Node, path string, into reflect.Value, w Want) {
	s := f.numberText(n)
	v, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil || !plainInt.MatchString(s):
		f.problem(n.GetToken(), path, "", "want a whole number%s; this is %s", w.bounds(), f.describe(n))
	case !w.holds(float64(v)):
		f.problem(n.GetToken(), path, "", "want a whole number%s; this is %d", w.bounds(), v)
	default:
		into.SetInt(v)
	}
}

func (f *File) number(n ast.Node, path string, into reflect.Value, w Want) {
	v, err := strconv.ParseFloat(f.numberText(n), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || !w.holds(v) {
		f.problem(n.GetToken(), path, "", "want a number%s; this is %s", w.bounds(), f.describe(n))
		return
	}
	into.SetFloat(v)
}

func (f *File) duration(n ast.Node, path string, into reflect.Value, w Want) {
	s, ok := textOf(n)
	d, err := time.ParseDuration(s)
	if ok && err == nil && w.holds(d.Seconds()) {
		into.SetInt(int64(d))
		return
	}
	near := ""
	for _, unit := range []string{"s", "m", "h"} {
		d, err := time.ParseDuration(f.numberText(n) + unit)
		if err == nil && d > 0 && w.holds(d.Seconds()) {
			near = f.numberText(n) + unit
			break
		}
	}
	between := ""
	if w.Max != 0 {
		between = fmt.Sprintf(" from %s to %s", Format(seconds(w.Min)), Format(seconds(w.Max)))
	}
	f.problem(n.GetToken(), path, near, "want a duration%s, such as 30s, 15m or 1h30m; this is %s", between, f.describe(n))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (f *File) text(n ast.Node, path string, into reflect.Value, w Want) {
	s, ok := f.scalar(n)
	if len(w.Words) > 0 {
		f.word(n, path, into, w)
		return
	}
	if !ok {
		f.problem(n.GetToken(), path, "", "want text; this is %s%s", f.describe(n), quoteHint(n))
		return
	}
	if wrong := w.wrong(s); wrong != "" {
		f.problem(n.GetToken(), path, "", "%s", wrong)
		return
	}
	into.SetString(s)
}

func (f *File) word(n ast.Node, path string, into reflect.Value, w Want) {
	s, ok := textOf(n)
	near := ""
	words := make([]string, len(w.Words))
	for i, word := range w.Words {
		if ok && s == word {
			into.SetString(s)
			return
		}
		if words[i] = word; word == "" {
			words[i] = `""`
		}
	}
	if ok {
		near = text.Nearest(s, w.Words)
	}
	want := words[len(words)-1]
	if len(words) > 1 {
		want = strings.Join(words[:len(words)-1], ", ") + " or " + want
	}
	f.problem(n.GetToken(), path, near, "want %s; this is %s", want, f.describe(n))
}

func (f *File) list(n ast.Node, path string, into reflect.Value, w Want, want func(string) Want) {
	all, ok := n.(*ast.SequenceNode)
	switch {
	case !ok:
		near := ""
		if s, isText := textOf(n); isText && len(s) < 60 {
			near = "[" + strconv.Quote(s) + "]"
		}
		f.problem(n.GetToken(), path, near, `want a list, such as ["one", "two"]; this is %s`, f.describe(n))
		return
	case len(all.Values) > MaxItems:
		f.problem(n.GetToken(), path, "", "want at most %d items; these are %d", MaxItems, len(all.Values))
		return
	}
	w.item = true
	items := reflect.MakeSlice(into.Type(), len(all.Values), len(all.Values))
	for i, item := range all.Values {
		at := below(path, strconv.Itoa(i+1))
		f.at[at] = item.GetToken()
		f.value(item, at, items.Index(i), w, want)
	}
	into.Set(items)
}

func (w Want) holds(v float64) bool { return w.Max == 0 && w.Min == 0 || v >= w.Min && v <= w.Max }

// bounds returns the bounds of a number, for people.
func (w Want) bounds() string {
	if w.Max == 0 && w.Min == 0 {
		return ""
	}
	return " from " + formatNumber(w.Min) + " to " + formatNumber(w.Max)
}

// wrong returns what is wrong with a text; "" if it is valid.
func (w Want) wrong(s string) string {
	switch n := utf8.RuneCountInString(s); {
	case w.item && strings.TrimSpace(s) == "":
		return "is empty"
	case w.Min > 0 && strings.TrimSpace(s) == "":
		return "is empty; leave the line out to have the default"
	case w.Max > 0 && float64(n) > w.Max:
		return fmt.Sprintf("has %d characters; at most %s are possible", n, formatNumber(w.Max))
	case strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f }):
		return "holds a control character"
	case w.Wrong != nil:
		return w.Wrong(s)
	}
	return ""
}

// textOf returns the value of a text node, and whether n is one.
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

// numberText returns a number as it is written; empty if n is not a number. If the form is lenient, it is without
// underscores and exponent, and may be a text.
func (f *File) numberText(n ast.Node) string {
	if s, ok := f.scalar(n); ok && f.form.Lenient {
		if v, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64); err == nil {
			return formatNumber(v)
		}
	}
	if t := n.GetToken(); t != nil && (t.Type == token.IntegerType || t.Type == token.FloatType) {
		return t.Value
	}
	return ""
}

// describe returns the value of a node if it is short, else its kind.
func (f *File) describe(n ast.Node) string {
	if s, ok := textOf(n); ok {
		return strconv.Quote(text.Clip(s, maxShown))
	}
	if s := f.numberText(n); s != "" && len(s) < maxShown {
		return s
	}
	return f.kind(n)
}

// kind returns the kind of a node, for people.
func (f *File) kind(n ast.Node) string {
	switch n.(type) {
	case nil, *ast.NullNode:
		return "empty"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a group of " + f.form.Key + "s"
	case *ast.AliasNode, *ast.AnchorNode, *ast.MergeKeyNode:
		return "an alias or anchor, which " + f.form.Key + "s don't use"
	case *ast.TagNode:
		return "a tagged value; tags such as !!str are not used here"
	}
	return "something else"
}

// quoteHint returns a hint to quote values such as 1.20 and no, which are not text in YAML.
func quoteHint(n ast.Node) string {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return "; put quotation marks around it"
	}
	return ""
}

// Format formats a value as in a file: durations without trailing zero units, lists and empty texts as JSON.
func Format(value any) string {
	switch v := reflect.ValueOf(value); {
	case isDuration(v.Type()):
		s := time.Duration(v.Int()).String()
		if strings.HasSuffix(s, "m0s") {
			s = strings.TrimSuffix(s, "0s")
		}
		if strings.HasSuffix(s, "h0m") {
			s = strings.TrimSuffix(s, "0m")
		}
		return s
	case v.Kind() == reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = strconv.Quote(fmt.Sprint(v.Index(i)))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case v.Kind() == reflect.String:
		if s := v.String(); s == "" || strings.ContainsAny(s, " :#\"'\n\t[]{},&*!|>%@`") {
			return strconv.Quote(s)
		}
	case v.Kind() == reflect.Float64:
		return formatNumber(v.Float())
	}
	return fmt.Sprint(value)
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
