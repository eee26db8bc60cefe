// Package symbol lists the definitions in a source file: functions, methods, types, classes and constants, with their
// lines. Go is parsed. Other languages are read line by line with a few patterns each, which match only common
// formatting. The files are untrusted: no input causes a panic or excessive time.
//
// Of this module it imports sia/text. Start reading at [Of].
package symbol

import (
	"path"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// Limits for one file.
const (
	maxSymbols = 2000
	maxText    = 160 // characters of a definition
	maxLine    = 2000
)

// Symbol is one definition.
type Symbol struct {
	Line  int    // 1-based
	Depth int    // 0 at the top level, 1 within another definition, at most 3
	Name  string // name used by references
	Text  string // definition on one line, without its body
}

// Knows reports whether the language of a file, by its extension, is supported.
func Knows(file string) bool {
	ext := strings.ToLower(path.Ext(file))
	return ext == ".go" || languages[ext] != nil
}

// Of lists the definitions of a file, in order. The extension of file determines the language.
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
