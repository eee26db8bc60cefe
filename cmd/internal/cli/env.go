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
	"github.com/sia-bot/sia/sia/visible"
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

// Sayf prints words for people. Arguments can't steer the terminal, whoever wrote them, unless they are [Styled].
func (e *Env) Sayf(format string, args ...any) error {
	disarm(args)
	_, err := fmt.Fprintf(e.Out, format, args...)
	return err
}

// Linef prints a line for people as [Env.Sayf] does. That nobody reads it shows when the command ends.
func (e *Env) Linef(format string, args ...any) { _ = e.Sayf(format+"\n", args...) }

// Masked prints what somebody wrote into a file, which may have a secret, and control characters that would steer the
// terminal.
func (e *Env) Masked(s string) error {
	_, err := fmt.Fprint(e.Out, secret.Mask(Plain(s)))
	return err
}

// Plain is what others wrote as a terminal may have it: control characters, which would steer it, are replaced, and
// what nobody sees, such as marks that turn the direction of a line, is left out.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case !visible.Hidden(r):
			return r
		case unicode.IsControl(r):
			return unicode.ReplacementChar
		}
		return -1
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// disarm has arguments of a format printed by [Plain]. A width, which is an int, and [Styled] stay as they are.
func disarm(args []any) {
	for i, a := range args {
		switch a.(type) {
		case int, Styled, disarmed:
		default:
			args[i] = disarmed{a}
		}
	}
}

// disarmed is an argument of a format as [Plain] has it, whatever the verb.
type disarmed struct{ arg any }

func (d disarmed) Format(s fmt.State, verb rune) {
	_, _ = io.WriteString(s, Plain(fmt.Sprintf(fmt.FormatString(s, verb), d.arg)))
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

// Rowf adds a row, with a tab between two cells. Its arguments are printed as [Env.Sayf] prints them.
func (t Table) Rowf(format string, args ...any) {
	disarm(args)
	fmt.Fprintf(t.w, format+"\n", args...)
}

// Flush prints the table.
func (t Table) Flush() error { return t.w.Flush() }
