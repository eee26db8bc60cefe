// Package symbol finds what a source file defines: functions, methods, types,
// classes and constants, with their lines. Go is parsed; the other languages are
// read line by line with a few patterns each, which find what is written in the
// usual way and no more. It reads strangers' files: no input makes it panic or slow.
//
// Of ours it imports sia/text. Start reading at [Of].
package symbol

import (
	"path"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// Bounds of what is shown of one file.
const (
	maxSymbols = 2000
	maxText    = 160 // characters of a definition
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
func Of(file, source string) []Symbol {
	ext := strings.ToLower(path.Ext(file))
	var all []Symbol
	if ext == ".go" {
		all = goSymbols(source)
	} else if l := languages[ext]; l != nil {
		all = l.symbols(source)
	}
	all = all[:min(len(all), maxSymbols)]
	for i := range all {
		all[i].Text = text.Clip(text.OneLine(all[i].Text), maxText)
	}
	return all
}
