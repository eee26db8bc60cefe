package runner

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var expression = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)

// scope is the data of an expression. Anything else is null.
type scope struct {
	contexts          map[string]any // by name: nil, bool, float64, string, []any or map[string]any
	failed, cancelled bool           // state of the previous steps or jobs
}

// expand replaces each ${{ expression }} of a text by its value. An invalid one becomes empty.
func expand(text string, s scope) string {
	return expression.ReplaceAllStringFunc(text, func(m string) string {
		v, err := eval(expression.FindStringSubmatch(m)[1], s)
		if err != nil {
			return ""
		}
		return asText(v)
	})
}

// condition evaluates a step's or job's if. Without a status function it implies
// success().
// https://docs.github.com/en/actions/writing-workflows/choosing-what-your-workflow-does/evaluate-expressions-in-workflows-and-actions
func condition(raw any, s scope) (bool, error) {
	passed := !s.failed && !s.cancelled
	if raw == nil {
		return passed, nil
	}
	text := strings.TrimSpace(fmt.Sprint(raw))
	if m := expression.FindStringSubmatch(text); m != nil && m[0] == text {
		text = m[1]
	} else if m != nil {
		return passed && expand(text, s) != "", nil // a text, which is true unless it is empty
	}
	if !statusFunction.MatchString(text) && !passed {
		return false, nil
	}
	if text == "" {
		return passed, nil
	}
	v, err := eval(text, s)
	return truthy(v), err
}

var statusFunction = regexp.MustCompile(`(?i)\b(always|failure|success|cancelled)\s*\(`)

// truth evaluates a switch such as continue-on-error, which is off if it is invalid.
func truth(raw any, s scope) bool {
	if raw == nil {
		return false
	}
	v, err := eval(strings.TrimSpace(expand(fmt.Sprint(raw), s)), s)
	return err == nil && truthy(v)
}

func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return v != ""
	}
	return true
}

func asText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		return "Array"
	}
	return "Object"
}

// asNumber converts a value for a comparison of different types.
func asNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case nil:
		return 0, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case float64:
		return v, true
	case string:
		if v == "" {
			return 0, true
		}
		n, err := strconv.ParseFloat(v, 64)
		return n, err == nil
	}
	return 0, false
}

// compare orders two values; ok is false where they can't be compared.
func compare(a, b any) (order int, ok bool) {
	as, aIs := a.(string)
	bs, bIs := b.(string)
	if aIs && bIs {
		return strings.Compare(strings.ToLower(as), strings.ToLower(bs)), true
	}
	an, aok := asNumber(a)
	bn, bok := asNumber(b)
	return cmp.Compare(an, bn), aok && bok
}

func equal(a, b any) bool {
	order, ok := compare(a, b)
	return ok && order == 0
}

// eval evaluates an expression.
func eval(text string, s scope) (any, error) {
	p := &parser{tokens: tokens(text), scope: s}
	v, err := p.or()
	if err == nil && p.peek() != "" {
		err = fmt.Errorf("unexpected symbol: %q", p.peek())
	}
	if err != nil {
		return nil, fmt.Errorf("the expression %q is not valid: %w", text, err)
	}
	return v, nil
}

var token = regexp.MustCompile(`'(?:[^']|'')*'|&&|\|\||==|!=|<=|>=|[!<>()\[\],.*]|-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?)|` +
	`[A-Za-z_][A-Za-z0-9_-]*|\S`)

func tokens(text string) []string { return token.FindAllString(text, -1) }

// maxDepth bounds how deep expressions are nested.
const maxDepth = 50

type parser struct {
	tokens []string
	scope  scope
	depth  int
}

func (p *parser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *parser) next() string {
	t := p.peek()
	if t != "" {
		p.tokens = p.tokens[1:]
	}
	return t
}

// took takes a token if it comes next.
func (p *parser) took(t string) bool {
	if p.peek() != t {
		return false
	}
	p.next()
	return true
}

func (p *parser) or() (any, error) {
	v, err := p.and()
	for err == nil && p.took("||") {
		var r any
		if r, err = p.and(); !truthy(v) {
			v = r
		}
	}
	return v, err
}

func (p *parser) and() (any, error) {
	v, err := p.comparison()
	for err == nil && p.took("&&") {
		var r any
		if r, err = p.comparison(); truthy(v) {
			v = r
		}
	}
	return v, err
}

func (p *parser) comparison() (any, error) {
	v, err := p.unary()
	for err == nil {
		op := p.peek()
		switch op {
		case "==", "!=", "<", "<=", ">", ">=":
			p.next()
		default:
			return v, nil
		}
		var r any
		if r, err = p.unary(); err != nil {
			return nil, err
		}
		order, ok := compare(v, r)
		v = map[string]bool{"==": ok && order == 0, "!=": !ok || order != 0, "<": ok && order < 0, "<=": ok && order <= 0,
			">": ok && order > 0, ">=": ok && order >= 0}[op]
	}
	return v, err
}

func (p *parser) unary() (any, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("it is nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	if p.took("!") {
		v, err := p.unary()
		return !truthy(v), err
	}
	v, err := p.primary()
	for err == nil {
		switch {
		case p.took("."):
			v = property(v, p.next())
		case p.took("["):
			var key any
			if key, err = p.or(); err == nil && !p.took("]") {
				err = fmt.Errorf("] is missing")
			}
			v = property(v, asText(key))
		default:
			return v, nil
		}
	}
	return nil, err
}

// property is a value's property or element; "*" is the list of all.
func property(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		if name == "*" {
			all := []any{}
			for _, x := range v {
				all = append(all, x)
			}
			return all
		}
		for k, x := range v {
			if strings.EqualFold(k, name) {
				return x
			}
		}
	case []any:
		if name == "*" {
			return v
		}
		if n, err := strconv.Atoi(name); err == nil {
			if n >= 0 && n < len(v) {
				return v[n]
			}
			return nil
		}
		var all []any // of a list of all: the property of each
		for _, x := range v {
			if got := property(x, name); got != nil {
				all = append(all, got)
			}
		}
		return all
	}
	return nil
}

func (p *parser) primary() (any, error) {
	t := p.next()
	switch {
	case t == "(":
		v, err := p.or()
		if err == nil && !p.took(")") {
			err = fmt.Errorf(") is missing")
		}
		return v, err
	case t == "":
		return nil, fmt.Errorf("it ends too early")
	case t[0] == '\'' && len(t) > 1:
		return strings.ReplaceAll(t[1:len(t)-1], "''", "'"), nil
	case t == "true" || t == "false":
		return t == "true", nil
	case t == "null":
		return nil, nil
	case t[0] == '-' || t[0] >= '0' && t[0] <= '9':
		n, err := strconv.ParseFloat(t, 64)
		if err != nil {
			i, ierr := strconv.ParseInt(t, 0, 64)
			n, err = float64(i), ierr
		}
		return n, err
	case t[0] == '_' || t[0] >= 'A' && t[0] <= 'Z' || t[0] >= 'a' && t[0] <= 'z':
		if p.took("(") {
			return p.call(strings.ToLower(t))
		}
		return property(p.scope.contexts, t), nil
	}
	return nil, fmt.Errorf("unexpected symbol: %q", t)
}

func (p *parser) call(name string) (any, error) {
	var args []any
	for !p.took(")") {
		if len(args) > 0 && !p.took(",") {
			return nil, fmt.Errorf(") is missing")
		}
		v, err := p.or()
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	arg := func(i int) any {
		if i < len(args) {
			return args[i]
		}
		return nil
	}
	lower := func(i int) string { return strings.ToLower(asText(arg(i))) }
	switch name {
	case "always":
		return true, nil
	case "success":
		return !p.scope.failed && !p.scope.cancelled, nil
	case "failure":
		return p.scope.failed && !p.scope.cancelled, nil
	case "cancelled":
		return p.scope.cancelled, nil
	case "contains":
		if list, is := arg(0).([]any); is {
			for _, x := range list {
				if equal(x, arg(1)) {
					return true, nil
				}
			}
			return false, nil
		}
		return strings.Contains(lower(0), lower(1)), nil
	case "startswith":
		return strings.HasPrefix(lower(0), lower(1)), nil
	case "endswith":
		return strings.HasSuffix(lower(0), lower(1)), nil
	case "format":
		return formatted(asText(arg(0)), args[min(1, len(args)):]), nil
	case "join":
		by := ","
		if len(args) > 1 {
			by = asText(args[1])
		}
		return joined(arg(0), by), nil
	case "tojson":
		b, err := json.MarshalIndent(arg(0), "", "  ")
		return string(b), err
	case "fromjson":
		var v any
		err := json.Unmarshal([]byte(asText(arg(0))), &v)
		return v, err
	case "hashfiles":
		return strings.Repeat("0123456789abcdef", 4), nil // nothing here depends on it
	}
	return nil, fmt.Errorf("unrecognized function: %q", name)
}

var placeholder = regexp.MustCompile(`\{\{|\}\}|\{(\d{1,3})\}`)

func formatted(text string, args []any) string {
	return placeholder.ReplaceAllStringFunc(text, func(m string) string {
		switch m {
		case "{{", "}}":
			return m[:1]
		}
		if n, err := strconv.Atoi(strings.Trim(m, "{}")); err == nil && n < len(args) {
			return asText(args[n])
		}
		return ""
	})
}

func joined(v any, by string) string {
	list, is := v.([]any)
	if !is {
		return asText(v)
	}
	var parts []string
	for _, x := range list {
		parts = append(parts, asText(x))
	}
	return strings.Join(parts, by)
}
