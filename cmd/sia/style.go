package main

import (
	"io"
	"os"
)

// style colours text for a terminal, or leaves it alone.
type style struct{ on bool }

// styleFor colours when w is a terminal and NO_COLOR is not set
// (https://no-color.org).
func styleFor(w io.Writer) style {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return style{}
	}
	info, err := f.Stat()
	return style{on: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

func (s style) wrap(code, text string) string {
	if !s.on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(t string) string  { return s.wrap("1", t) }
func (s style) dim(t string) string   { return s.wrap("2", t) }
func (s style) green(t string) string { return s.wrap("32", t) }
func (s style) red(t string) string   { return s.wrap("31", t) }
func (s style) amber(t string) string { return s.wrap("33", t) }
