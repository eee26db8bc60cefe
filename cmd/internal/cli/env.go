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

// Env is the environment of a command.
type Env struct {
	Ctx      context.Context
	Out, Err io.Writer
	Logger   *slog.Logger
	Warnings *slog.Logger // Logger from the level warn on, for commands with output of their own
	Style    Style
}

// JSON prints a value as indented JSON, with secrets masked.
func (e *Env) JSON(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = e.Out.Write(append(secret.MaskJSON(b), '\n'))
	return err
}

// JSONLine prints a value as one line of JSON, with secrets masked.
func (e *Env) JSONLine(v any) error { return WriteJSONLine(e.Out, v) }

// WriteJSONLine is [Env.JSONLine] for another writer.
func WriteJSONLine(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(secret.MaskJSON(b), '\n'))
	return err
}

// Sprintf formats text for users. Each argument is printed as [Plain] returns it, unless it is [Styled].
func Sprintf(format string, args ...any) string {
	makePlain(args)
	return fmt.Sprintf(format, args...)
}

// Sayf prints text for users, as [Sprintf] formats it.
func (e *Env) Sayf(format string, args ...any) error {
	_, err := io.WriteString(e.Out, Sprintf(format, args...))
	return err
}

// Linef prints a line as [Env.Sayf] does. Write errors are dropped: they are reported when the command ends.
func (e *Env) Linef(format string, args ...any) { _ = e.Sayf(format+"\n", args...) }

// Progressf prints a line of progress on standard error, as [Sprintf] formats it.
func (e *Env) Progressf(format string, args ...any) { fmt.Fprintln(e.Err, Sprintf(format, args...)) }

// Plain returns untrusted text as it may be written to a terminal. Secrets are masked. Control characters, which could
// control the terminal, are replaced. Invisible characters, such as bidirectional marks, are removed.
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

// makePlain applies [Plain] to the arguments of a format, except an int, which may be a width, and [Styled].
func makePlain(args []any) {
	for i, a := range args {
		switch a.(type) {
		case int, Styled, plainArg:
		default:
			args[i] = plainArg{a}
		}
	}
}

// plainArg is an argument of a format that is printed through [Plain] with every verb.
type plainArg struct{ arg any }

func (d plainArg) Format(s fmt.State, verb rune) {
	_, _ = io.WriteString(s, Plain(fmt.Sprintf(fmt.FormatString(s, verb), d.arg)))
}

// Table prints rows with their columns aligned.
type Table struct{ w *tabwriter.Writer }

// NewTable returns a table that writes to w, with a header row if columns are given.
func NewTable(w io.Writer, columns ...string) Table {
	t := Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	if len(columns) > 0 {
		fmt.Fprintln(t.w, strings.Join(columns, "\t"))
	}
	return t
}

// Rowf adds a row, as [Sprintf] formats it. A tab separates two cells.
func (t Table) Rowf(format string, args ...any) { fmt.Fprintln(t.w, Sprintf(format, args...)) }

// Fieldf adds a row for the field name, unless its text is empty.
func (t Table) Fieldf(name, format string, args ...any) {
	if said := Sprintf(format, args...); said != "" {
		t.Rowf("  %s\t%s", name, said)
	}
}

// List prints values as JSON, or as a table with a row for each value, or the text none if there are no values.
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
