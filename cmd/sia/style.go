package main

import (
	"io"
	"os"
)

// textStyle colours text for a terminal, or leaves it alone.
type textStyle struct{ on bool }

// styleFor colours when w is a terminal and NO_COLOR is not set
// (https://no-color.org).
func styleFor(w io.Writer) textStyle {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return textStyle{}
	}
	info, err := f.Stat()
	return textStyle{on: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

func (s textStyle) wrap(code, text string) string {
	if !s.on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s textStyle) bold(t string) string  { return s.wrap("1", t) }
func (s textStyle) dim(t string) string   { return s.wrap("2", t) }
func (s textStyle) green(t string) string { return s.wrap("32", t) }
func (s textStyle) red(t string) string   { return s.wrap("31", t) }
func (s textStyle) amber(t string) string { return s.wrap("33", t) }
