package cli

import (
	"io"
	"os"
)

// Style colours text for a terminal, or returns it unchanged.
type Style struct{ on bool }

// StyleFor returns a style that colours if w is a terminal and NO_COLOR is not set (https://no-color.org).
func StyleFor(w io.Writer) Style {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return Style{}
	}
	return Style{on: Interactive(f)}
}

// Interactive reports whether a file is a terminal.
func Interactive(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // a character device, too
	return err != nil || !os.SameFile(info, null)
}

// Styled is text that is safe to print on a terminal: the result of [Plain], with SIA's own colours.
type Styled string

func (s Style) wrap(code, text string) Styled {
	text = Plain(text)
	if !s.on {
		return Styled(text)
	}
	return Styled("\x1b[" + code + "m" + text + "\x1b[0m")
}

func (s Style) Bold(t string) Styled  { return s.wrap("1", t) }
func (s Style) Dim(t string) Styled   { return s.wrap("2", t) }
func (s Style) Green(t string) Styled { return s.wrap("32", t) }
func (s Style) Red(t string) Styled   { return s.wrap("31", t) }
func (s Style) Amber(t string) Styled { return s.wrap("33", t) }
