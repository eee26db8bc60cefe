package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/sia-bot/sia/sia/secret"
)

// Env is what commands work with.
type Env struct {
	Ctx      context.Context
	Out, Err io.Writer
	Logger   *slog.Logger
	Style    Style
}

// JSON prints a value for programs, with secrets masked.
func (e *Env) JSON(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = e.Out.Write(append(secret.MaskJSON(b), '\n'))
	return err
}

// Sayf prints words for people.
func (e *Env) Sayf(format string, args ...any) error {
	_, err := fmt.Fprintf(e.Out, format, args...)
	return err
}

// Masked prints what somebody wrote into a file, which may have a secret, and control characters that would steer the
// terminal.
func (e *Env) Masked(s string) error {
	_, err := fmt.Fprint(e.Out, secret.Mask(Plain(s)))
	return err
}

// Plain replaces the control characters that would steer the terminal in what others wrote.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// Table prints rows with their columns aligned.
type Table struct{ w *tabwriter.Writer }

// NewTable begins a table on w with the names of its columns, or without any.
func NewTable(w io.Writer, columns ...string) Table {
	t := Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	if len(columns) > 0 {
		fmt.Fprintln(t.w, strings.Join(columns, "\t"))
	}
	return t
}

// Rowf adds a row, with a tab between two cells.
func (t Table) Rowf(format string, args ...any) { fmt.Fprintf(t.w, format+"\n", args...) }

// Flush prints the table.
func (t Table) Flush() error { return t.w.Flush() }
