package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// candidate is a possible completion of a word.
type candidate struct {
	word string
	help string // one line; may be empty
}

// completion is the set of completions of a command line.
type completion struct {
	words []candidate
	files bool // file names are possible, too
}

// completeLine returns the completions of the last of words; the words before it are complete. It completes commands,
// flags and enumerated values, and reports where a file name fits; it reads and runs nothing. bash splits --flag=value
// into three words, other shells pass one; both are handled.
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

// place is the position in the command tree after the complete words of a command line.
type place struct {
	root, node *kong.Node
	args       int        // positional arguments so far
	awaits     *kong.Flag // the flag that takes the next word as its value; nil: none
	flagsOver  bool       // after --
}

// pass consumes one complete word.
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
			if p.node.Name == "help" && p.node.Parent == p.root { // help for the following command
				p.node = p.root
			}
			return
		}
		p.args++
	}
}

// argument completes a word that is not a flag: a command, or a positional argument.
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

// flags returns the flags that begin with the word.
func (p place) flags(current string) (c completion) {
	for _, f := range flagsOf(p.node) {
		if name := "--" + f.Name; strings.HasPrefix(name, current) {
			c.words = append(c.words, candidate{name, f.Help})
		}
	}
	return c
}

// flagsOf returns the visible flags of a command, of the commands above it, and of its default command.
func flagsOf(n *kong.Node) (all []*kong.Flag) {
	if d := n.DefaultCmd; d != nil {
		n = d
	}
	for _, group := range slices.Backward(n.AllFlags(true)) { // its own first
		all = append(all, group...)
	}
	return all
}

// flagNamed returns the flag that a word such as --output or -v names; nil if there is none.
func flagNamed(n *kong.Node, word string) *kong.Flag {
	for _, f := range flagsOf(n) {
		if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// valuesOf returns the values of a flag or argument that begin with the word, each after a prefix.
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
