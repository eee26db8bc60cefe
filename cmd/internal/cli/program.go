package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/sia-bot/sia/sia/secret"
)

// Exit codes. Those after Ctrl-C and after a write to a closed pipe are the ones that shells use.
const (
	ExitDone    = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitStopped = 130
	ExitUnread  = 141
)

// ErrShown makes a command fail without another message, after it has printed its own.
var ErrShown = errors.New("failed")

// ExitCode, returned as a command's error, ends the program with that code and without a message.
type ExitCode int

func (c ExitCode) Error() string { return fmt.Sprintf("exit status %d", int(c)) }

// usageError is the error that [Usage] returns.
type usageError string

func (e usageError) Error() string { return string(e) }

// Usage returns an error for wrong usage that was detected when the command ran, such as a flag without another flag
// that it needs.
func Usage(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

// Global are the flags that every command has.
type Global struct {
	ShowVersion kong.VersionFlag `name:"version" help:"Print the version, as the command version does."`

	LogLevel slog.Level `help:"Least severe messages that are logged: debug, info, warn or error." default:"info" env:"SIA_LOG_LEVEL"`
	LogJSON  bool       `help:"Log as JSON." env:"SIA_LOG_JSON"`
}

// Format is the flag of commands that print text or JSON.
type Format struct {
	Output string `help:"text or json." enum:"text,json" default:"text"`
}

// Print prints a value as JSON, or calls show to print it as text.
func (f Format) Print(e *Env, v any, show func() error) error {
	if f.Output == "json" {
		return e.JSON(v)
	}
	return show()
}

// Report is [Format.Print] for a result. The command fails unless the result is good.
func (f Format) Report(e *Env, v any, good bool, show func() error) error {
	if err := f.Print(e, v, show); err != nil || good {
		return err
	}
	return ErrShown
}

// Sayf prints a value as JSON, or formatted text.
func (f Format) Sayf(e *Env, v any, words string, args ...any) error {
	return f.Print(e, v, func() error { return e.Sayf(words, args...) })
}

// Program is a command line.
type Program struct {
	Name, Description string
	Commands          any     // pointer to a struct for kong that embeds Global
	Global            *Global // the embedded one
	Options           []kong.Option
	NeedAll           []string // commands that need the whole command line
}

// exitPanic carries an exit code out of kong, which would end the process.
type exitPanic int

// Parser returns a parser of command lines. Where kong would end the process, it panics; [Program.Run] recovers.
func (p Program) Parser(stdout, stderr io.Writer) (*kong.Kong, error) {
	return kong.New(p.Commands, slices.Concat(values(), []kong.Option{
		kong.Name(p.Name), kong.Description(p.Description),
		kong.Writers(stdout, stderr), kong.Exit(func(n int) { panic(exitPanic(n)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, NoExpandSubcommands: true}),
		kong.Help(printHelp),
	}, p.Options)...)
}

// Run parses arguments, runs the command and returns the exit code.
func (p Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case exitPanic:
			code = int(e)
		default:
			panic(e)
		}
	}()
	p = p.ForArgs(args)
	parser, err := p.Parser(stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
		return ExitUsage
	}
	if len(args) == 0 { // without arguments, list the commands
		args = []string{"--help"}
	}
	if args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
	}
	kctx, err := parser.Parse(args)
	if errors.Is(err, syscall.EPIPE) { // it printed help
		return ExitUnread
	}
	if wrote := (*fs.PathError)(nil); errors.As(err, &wrote) && wrote.Op == "write" { // as well
		fmt.Fprintf(stderr, "%s: %s\n", p.Name, Plain(ErrorText(err)))
		return ExitFailed
	}
	if err != nil {
		return p.reportUsage(stderr, usageMessage(err), p.commandOf(err))
	}
	logger := func(least slog.Level) *slog.Logger {
		opts := &slog.HandlerOptions{Level: least, ReplaceAttr: withoutEmpty}
		var handler slog.Handler = slog.NewTextHandler(stderr, opts)
		if p.Global.LogJSON {
			handler = slog.NewJSONHandler(stderr, opts)
		}
		return slog.New((&secret.Masker{}).Handler(handler))
	}
	read, unread := context.WithCancelCause(ctx)
	defer unread(nil)
	out := &output{Writer: stdout, unread: unread}
	e := &Env{Ctx: read, Out: out, Err: stderr, Logger: logger(p.Global.LogLevel),
		Warnings: logger(max(p.Global.LogLevel, slog.LevelWarn)), Style: StyleFor(stdout)}
	err = kctx.Run(e, parser)
	if err == nil {
		err = out.err()
	}
	if err != nil {
		if code := ExitCode(0); errors.As(err, &code) {
			return int(code)
		}
		if wrong := usageError(""); errors.As(err, &wrong) {
			return p.reportUsage(stderr, ErrorText(err), p.Name+" "+kctx.Selected().Path())
		}
		if ctx.Err() != nil { // an error after cancellation is not a failure
			fmt.Fprintln(stderr, "Stopped.")
			return ExitStopped
		}
		if errors.Is(context.Cause(read), syscall.EPIPE) {
			return ExitUnread
		}
		if !errors.Is(err, ErrShown) {
			fmt.Fprintf(stderr, "%s: %s\n", p.Name, Plain(ErrorText(err)))
		}
		return ExitFailed
	}
	return ExitDone
}

// ForArgs returns the program with only the command that the arguments begin with. Parsing the definitions of all
// commands takes most of the time of a short command. Commands in NeedAll, and unknown commands, keep all.
func (p Program) ForArgs(args []string) Program {
	if len(args) == 0 || slices.Contains(p.NeedAll, args[0]) {
		return p
	}
	whole := reflect.ValueOf(p.Commands).Elem()
	var fields []reflect.StructField
	var from []int
	found := false
	for i := range whole.NumField() {
		f := whole.Type().Field(i)
		if _, command := f.Tag.Lookup("cmd"); command {
			if cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)) != args[0] {
				continue
			}
			found = true
		}
		f.Anonymous = false // reflect.StructOf can't embed a type with methods
		fields, from = append(fields, f), append(from, i)
	}
	if !found {
		return p
	}
	one := reflect.New(reflect.StructOf(fields))
	for to, i := range from {
		one.Elem().Field(to).Set(whole.Field(i))
		if g, ok := one.Elem().Field(to).Addr().Interface().(*Global); ok {
			p.Global = g
		}
	}
	p.Commands = one.Interface()
	return p
}

// withoutEmpty removes attributes with an empty string from the log.
func withoutEmpty(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindString && a.Value.String() == "" {
		return slog.Attr{}
	}
	return a
}

// reportUsage reports wrong usage of a command.
func (p Program) reportUsage(stderr io.Writer, said, command string) int {
	fmt.Fprintf(stderr, "%s: %s\nTry `%s --help`.\n", p.Name, Plain(said), command)
	return ExitUsage
}

// missingArguments is the beginning of kong's error for missing arguments: `expected "<base> <head>"`.
const missingArguments = `expected "<`

// fromVariable matches kong's error for a variable with a wrong value. Kong repeats the whole value, which may be a
// secret.
var fromVariable = regexp.MustCompile(`\(from envar (\w+)="(?:[^"\\]|\\.)*"\)`)

// usageMessage returns the reason why a command line can't be parsed.
func usageMessage(err error) string {
	said := fromVariable.ReplaceAllString(ErrorText(err), "(from the variable $1)")
	if names, ok := strings.CutPrefix(said, missingArguments); ok {
		return "missing arguments: <" + strings.TrimSuffix(names, `"`)
	}
	return said
}

// commandOf returns the command that a wrong command line was for, or the program if that is not known.
func (p Program) commandOf(err error) string {
	var wrong *kong.ParseError
	if errors.As(err, &wrong) && wrong.Context != nil {
		if n := wrong.Context.Selected(); n != nil {
			return p.Name + " " + n.Path()
		}
	}
	return p.Name
}
