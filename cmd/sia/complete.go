package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// candidate is one way in which a word of a command line may go on.
type candidate struct {
	word string
	help string // one line; may be empty
}

// completion is how a command line may go on.
type completion struct {
	words []candidate
	files bool // names of files besides
}

// completeLine says how the last of words may go on; the words before it are complete. It knows
// commands, flags, values that can be listed, and where a file is meant: nothing is read or run.
// bash hands --flag=value over as three words, other shells as one; both are understood.
func completeLine(root *kong.Node, words []string) completion {
	if len(words) == 0 {
		words = []string{""}
	}
	current := words[len(words)-1]
	at := place{node: root, root: root}
	for _, w := range words[:len(words)-1] {
		if w != "=" || at.awaits == nil {
			at.pass(w)
		}
	}
	if current == "=" && at.awaits != nil {
		current = ""
	}
	flag, value, joined := strings.Cut(current, "=")
	switch {
	case at.awaits != nil:
		return valuesOf(at.awaits.Value, "", current)
	case at.flagsOver:
		return at.argument(current)
	case joined && strings.HasPrefix(flag, "--"):
		if f := flagNamed(at.node, flag); f != nil {
			return valuesOf(f.Value, flag+"=", value)
		}
		return completion{}
	case strings.HasPrefix(current, "-"):
		return at.flags(current)
	}
	return at.argument(current)
}

// place is how far the complete words of a command line lead.
type place struct {
	root, node *kong.Node
	args       int        // positional arguments so far
	awaits     *kong.Flag // the flag that takes the next word as its value; nil: none
	flagsOver  bool       // after --
}

// pass goes on by one complete word.
func (p *place) pass(word string) {
	if p.awaits != nil {
		p.awaits = nil
		return
	}
	switch {
	case p.flagsOver:
		p.args++
	case word == "--":
		p.flagsOver = true
	case strings.HasPrefix(word, "-"):
		if f := flagNamed(p.node, word); f != nil && !f.IsBool() && !f.IsCounter() {
			p.awaits = f
		}
	default:
		if i := slices.IndexFunc(p.node.Children, func(n *kong.Node) bool { return n.Name == word }); i >= 0 {
			p.node = p.node.Children[i]
			if p.node.Name == "help" && p.node.Parent == p.root { // help for what follows
				p.node = p.root
			}
			return
		}
		p.args++
	}
}

// argument completes a word that is no flag: a command, or a positional argument.
func (p place) argument(current string) (c completion) {
	if p.args == 0 && !p.flagsOver {
		for _, n := range p.node.Children {
			if !n.Hidden && strings.HasPrefix(n.Name, current) {
				c.words = append(c.words, candidate{n.Name, n.Help})
			}
		}
		if len(p.node.Children) > 0 {
			return c
		}
	}
	all := p.node.Positional
	if n := len(all); p.args < n || n > 0 && all[n-1].IsSlice() {
		return valuesOf(all[min(p.args, n-1)], "", current)
	}
	return c
}

// flags are the flags that begin as the word does.
func (p place) flags(current string) (c completion) {
	for _, f := range flagsOf(p.node) {
		if name := "--" + f.Name; strings.HasPrefix(name, current) {
			c.words = append(c.words, candidate{name, f.Help})
		}
	}
	return c
}

// flagsOf are the visible flags of a command, those of the commands above it, and those of what it
// does by default.
func flagsOf(n *kong.Node) (all []*kong.Flag) {
	if d := n.DefaultCmd; d != nil {
		n = d
	}
	for _, group := range slices.Backward(n.AllFlags(true)) { // its own first
		all = append(all, group...)
	}
	return all
}

// flagNamed is the flag that a word such as --output or -v names; nil: none does.
func flagNamed(n *kong.Node, word string) *kong.Flag {
	for _, f := range flagsOf(n) {
		if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// valuesOf are the values of a flag or argument that begin as the word does, each behind a prefix.
func valuesOf(v *kong.Value, prefix, current string) (c completion) {
	if v.Enum != "" {
		for _, value := range v.EnumSlice() {
			if value = strings.TrimSpace(value); strings.HasPrefix(value, current) {
				c.words = append(c.words, candidate{word: prefix + value})
			}
		}
	}
	c.files = prefix == "" && takesFile(v)
	return c
}

// takesFile reports whether a value is the name of a file or folder.
func takesFile(v *kong.Value) bool {
	begins := func(word string) bool { return strings.HasPrefix(v.Tag.PlaceHolder, word) }
	return slices.Contains([]string{"path", "existingfile", "existingdir"}, v.Tag.Type) || v.Name == "files" ||
		slices.ContainsFunc([]string{"FILE", "FOLDER", "DIR", "PATH"}, begins)
}
