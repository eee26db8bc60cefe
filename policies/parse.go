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

// policyName matches valid names of policies.
var policyName = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,59}$`)

// Parse parses a policy file. Omitted parameters and rules have the shipped values. Parsing is strict: an error is an
// *[invalid.File]; its problems have line, column and suggestions. name is the file's name for messages.
func Parse(name string, source []byte) (Policy, error) {
	return parse(name, source, ShippedSet())
}

// parse parses a policy file with defaults from the policy of base that fits every context; base may be nil.
func parse(name string, source []byte, base *Set) (p Policy, err error) {
	p.Source = string(bytes.TrimPrefix(source, []byte("\ufeff"))) // the byte order mark that some editors add
	f := yamlfile.Parse(source, yamlfile.Form{Key: "key", Most: maxFile})
	if len(f.Problems) == 0 {
		p.read(f, base)
	}
	if len(f.Problems) > 0 {
		return Policy{}, &invalid.File{Name: name, Problems: f.Problems}
	}
	return p, nil
}

// read decodes the policy and records problems in f.
func (p *Policy) read(f *yamlfile.File, base *Set) {
	p.Decision = Type(f.Word("decision"))
	empty, known := bodies[p.Decision]
	if !known {
		names := plainWords(Types())
		f.Note("decision", text.Nearest(string(p.Decision), names), "want one of %s", strings.Join(names, ", "))
		return
	}
	p.body = empty()
	if base != nil { // defaults for omitted values
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
