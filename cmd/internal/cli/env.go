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
	Warnings *slog.Logger // the same for what goes wrong alone, where what was done is the answer
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

// JSONLine prints a value for programs on one line, with secrets masked.
func (e *Env) JSONLine(v any) error { return WriteJSONLine(e.Out, v) }

// WriteJSONLine is [Env.JSONLine] to another place.
func WriteJSONLine(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(secret.MaskJSON(b), '\n'))
	return err
}

// Sprintf formats words for people. Each argument is printed as [Plain] has it, unless it is [Styled].
func Sprintf(format string, args ...any) string {
	disarm(args)
	return fmt.Sprintf(format, args...)
}

// Sayf prints words for people, as [Sprintf] formats them.
func (e *Env) Sayf(format string, args ...any) error {
	_, err := io.WriteString(e.Out, Sprintf(format, args...))
	return err
}

// Linef prints a line for people as [Env.Sayf] does. That nobody reads it shows when the command ends.
func (e *Env) Linef(format string, args ...any) { _ = e.Sayf(format+"\n", args...) }

// Tellf prints a line of progress on standard error, as [Sprintf] formats it.
func (e *Env) Tellf(format string, args ...any) { fmt.Fprintln(e.Err, Sprintf(format, args...)) }

// Plain is what others wrote as a terminal may have it: secrets are masked, control characters, which would steer the
// terminal, are replaced, and what nobody sees, such as marks that turn the direction of a line, is left out.
func Plain(s string) string {
	return secret.Mask(strings.Map(func(r rune) rune {
		switch {
		case !visible.Hidden(r):
			return r
		case unicode.IsControl(r):
			return unicode.ReplacementChar
		}
		return -1
	}, strings.ReplaceAll(s, "\r\n", "\n")))
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

// Rowf adds a row, with a tab between two cells, as [Sprintf] formats it.
func (t Table) Rowf(format string, args ...any) { fmt.Fprintln(t.w, Sprintf(format, args...)) }

// Fieldf adds a row for what is called name, unless there is nothing to say of it.
func (t Table) Fieldf(name, format string, args ...any) {
	if said := Sprintf(format, args...); said != "" {
		t.Rowf("  %s\t%s", name, said)
	}
}

// List prints values for programs, or a row of a table for each, or that there is none.
func List[T any](e *Env, f Format, all []T, none string, columns []string, row func(Table, T)) error {
	if f.Output == "json" {
		return e.JSON(append([]T{}, all...))
	}
	if len(all) == 0 {
		return e.Sayf("%s\n", none)
	}
	t := NewTable(e.Out, columns...)
	for _, v := range all {
		row(t, v)
	}
	return t.Flush()
}

// Flush prints the table.
func (t Table) Flush() error { return t.w.Flush() }
