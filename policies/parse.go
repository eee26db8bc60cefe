package policies

import (
	"bytes"
	"reflect"
	"strings"

	"github.com/sia-bot/sia/sia/invalid"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/yamlfile"
)

const maxFile = 64 << 10 // bytes of a policy file

// policyName is what a policy may be called.
var policyName = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,59}$`)

// Parse reads a policy file. What it leaves out of its parameters and rules is as shipped.
// Reading is strict: an error is an *[invalid.File]; its problems have line, column and
// what was probably meant. name is the file's, for messages.
func Parse(name string, source []byte) (Policy, error) {
	return parse(name, source, ShippedSet())
}

// parse reads a policy file on top of the policy of base that fits every context; base may be nil.
func parse(name string, source []byte, base *Set) (p Policy, err error) {
	p.Source = string(bytes.TrimPrefix(source, []byte("\ufeff"))) // the byte-order mark that some editors put first
	f := yamlfile.Parse(source, yamlfile.Form{Key: "key", Most: maxFile})
	if len(f.Problems) == 0 {
		p.read(f, base)
	}
	if len(f.Problems) > 0 {
		return Policy{}, &invalid.File{Name: name, Problems: f.Problems}
	}
	return p, nil
}

// read reads what a policy decides by, and notes in its file what is wrong with it.
func (p *Policy) read(f *yamlfile.File, base *Set) {
	p.Decision = Type(f.Word("decision"))
	empty, known := bodies[p.Decision]
	if !known {
		names := plainWords(Types())
		f.Note("decision", text.Nearest(string(p.Decision), names), "want one of %s", strings.Join(names, ", "))
		return
	}
	p.body = empty()
	if base != nil { // what the file leaves out
		reflect.ValueOf(p.body).Elem().Set(reflect.ValueOf(base.For(p.Decision, Context{}).body).Elem())
	}
	sections := p.body.Sections()
	for key, at := range map[string]any{"decision": &p.Decision, "name": &p.Name, "version": &p.Version,
		"reasoning": &p.Reasoning, "selector": &p.Selector} {
		sections[key] = at
	}
	f.Into(sections, nil)
	p.Reasoning = strings.TrimSpace(p.Reasoning)
	switch {
	case !policyName.MatchString(p.Name):
		f.Note("name", "", "want a name of small letters, digits and hyphens, such as ask-early-about-schemas")
	case p.Version < 1:
		f.Note("version", "", "want a whole number from 1; raise it when you change the file")
	}
	wrong := p.Selector.check("selector")
	if body, ok := p.body.(checked); ok {
		wrong = append(wrong, body.Check()...)
	}
	for _, w := range wrong {
		f.Note(w.Path, w.Nearest, "%s", w.Message)
	}
}

func plainWords[S ~string](words []S) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}
