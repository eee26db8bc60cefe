// Package symbol finds what a source file defines: functions, methods, types,
// classes and constants, with their lines. Go is parsed; the other languages are
// read line by line with a few patterns each, which finds what is written in the
// usual way and makes no claim to more. It reads strangers' files: no input makes
// it panic or slow.
//
// The package imports nothing of ours. Start reading at Of.
package symbol

import (
	"path"
	"strings"
	"unicode/utf8"
)

// Bounds of what is told of one file.
const (
	maxSymbols = 2000
	maxText    = 160 // bytes of a definition
	maxLine    = 2000
)

// Symbol is one definition.
type Symbol struct {
	Line  int    // 1-based
	Depth int    // 0 at the top, 1 inside of something, at most 3
	Name  string // as others refer to it
	Text  string // the definition on one line, without its body
}

// Knows reports whether the language of a file, by its name, is known.
func Knows(file string) bool {
	ext := strings.ToLower(path.Ext(file))
	return ext == ".go" || languages[ext] != nil
}

// Of lists what a file defines, in order. file says the language.
func Of(file, text string) []Symbol {
	ext := strings.ToLower(path.Ext(file))
	var all []Symbol
	if ext == ".go" {
		all = goSymbols(text)
	} else if l := languages[ext]; l != nil {
		all = l.symbols(text)
	}
	all = all[:min(len(all), maxSymbols)]
	for i := range all {
		all[i].Text = short(all[i].Text)
	}
	return all
}

// short is a definition on one line, cut to a readable length.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
