package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/failure"
)

// logCmd reads failing CI logs the way SIA does.
type logCmd struct {
	Files   []string `arg:"" help:"Logs, plain or gzip; - is standard input. Unpack a zip archive first."`
	Green   string   `help:"A log of the same job that passed: what it says, too, counts less." placeholder:"FILE"`
	Lines   int      `help:"Lines of text at most, in --output json and of logs from a pipe." default:"15" min:"1"`
	Context int      `help:"Lines shown around the excerpt." default:"2" min:"0"`
	Output  string   `help:"text or json (an object a line)." enum:"text,json" default:"text"`
}

// logReport is what --output json prints of one log. Fields are only added.
type logReport struct {
	File string `json:"file"`
	failure.Report
	FailedTests []string        `json:"failed_tests"`
	Tests       []failure.Test  `json:"tests"`  // the same tests with their locations
	Why         []string        `json:"why"`    // never null, like places
	Places      []failure.Place `json:"places"` // likeliest first; Text is that of the first
}

// Run reads each log. It reports a log that can't be read, and continues with the others.
func (c *logCmd) Run(e *cli.Env) error {
	var failed error
	for i, name := range c.Files {
		rep, err := c.read(e, name)
		if e.Ctx.Err() != nil {
			return e.Ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(e.Err, "sia: %s\n", cli.ErrorText(err))
			failed = cli.ErrShown
			continue
		}
		if c.Output == "json" {
			err = e.JSONLine(logReport{name, rep, testNames(rep.Tests), nonNil(rep.Tests), nonNil(rep.Why), nonNil(rep.Places)})
		} else {
			if i > 0 {
				e.Linef("")
			}
			err = c.show(e, name, rep)
		}
		if err != nil {
			return err
		}
	}
	return failed
}

// read reads one log, compared with the green one if there is one.
func (c *logCmd) read(e *cli.Env, name string) (failure.Report, error) {
	log, err := openLog(e, name)
	if err != nil {
		return failure.Report{}, err
	}
	defer log.Close()
	opts := failure.Options{MaxLines: c.Lines}
	if c.Green != "" {
		green, err := openLog(e, c.Green)
		if err != nil {
			return failure.Report{}, err
		}
		defer green.Close()
		opts.Green = green
	}
	return failure.Read(e.Ctx, log, opts)
}

// show prints a report as text: the failed tests, the excerpt with its context, and why these lines were chosen.
func (c *logCmd) show(e *cli.Env, name string, rep failure.Report) error {
	e.Linef("%s", e.Style.Bold(name))
	if rep.Cut != "" {
		e.Linef("%s %s", e.Style.Red("not read to its end:"), rep.Cut)
	}
	if len(rep.Excerpt) == 0 {
		return e.Sayf("nothing in this log tells of a failure; give --green a log of the job that passed, if there is one\n")
	}
	e.Linef("class %s, signature %s", e.Style.Red(string(rep.Class)), rep.Signature)
	for _, t := range rep.Tests[:min(len(rep.Tests), 20)] {
		at := cli.Styled("")
		if t.File != "" {
			at = e.Style.Dim(fmt.Sprintf("  %s:%d", t.File, t.Line))
		}
		e.Linef("failed: %s%s", t.Name, at)
	}
	lines, err := c.excerpt(e, name, rep)
	if err != nil {
		return err
	}
	for _, l := range lines {
		if l.AfterGap {
			e.Linef("%s", e.Style.Dim("      ⋮"))
		}
		switch {
		case l.N == 0:
			e.Linef("       %s", l.Text)
		case l.Excerpt:
			e.Linef("%6d %s", l.N, l.Text)
		default:
			e.Linef("%s", e.Style.Dim(fmt.Sprintf("%6d %s", l.N, l.Text)))
		}
	}
	e.Linef("chosen because:")
	for _, w := range rep.Why {
		e.Linef("  %s", w)
	}
	return nil
}

// excerpt reads the excerpt's lines again, with context. Standard input and pipes can't be read twice, so for them it
// returns the text without context.
func (c *logCmd) excerpt(e *cli.Env, name string, rep failure.Report) ([]failure.Line, error) {
	if st, err := os.Stat(name); name == "-" || err == nil && !st.Mode().IsRegular() {
		var lines []failure.Line
		for _, t := range strings.Split(rep.Text, "\n") {
			lines = append(lines, failure.Line{Text: t, Excerpt: true})
		}
		return lines, nil
	}
	log, err := openLog(e, name)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return failure.ReadLines(e.Ctx, log, rep.Excerpt, c.Context)
}

// openLog opens a log, which may be compressed. Its readers decompress it. It returns an error for a zip archive, as
// GitHub's "Download log archive" gives, and for a program: both are read as a log without a failure.
func openLog(e *cli.Env, name string) (io.ReadCloser, error) {
	if name == "-" {
		return readable(io.NopCloser(e.Stdin()), "standard input")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err == nil && st.IsDir() {
		return nil, errors.Join(&fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}, f.Close())
	}
	return readable(f, name)
}

// readable returns a log from its beginning, unless that is of something else.
func readable(log io.ReadCloser, name string) (io.ReadCloser, error) {
	begin := bufio.NewReader(log)
	switch first, _ := begin.Peek(4); string(first) { // the error comes again when the log is read
	case "PK\x03\x04":
		return nil, errors.Join(fmt.Errorf("%s is a zip archive: unpack it, and name the logs in it", name), log.Close())
	case "\x7fELF":
		return nil, errors.Join(fmt.Errorf("%s is a program, not a log", name), log.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{begin, log}, nil
}

func testNames(ts []failure.Test) []string {
	out := make([]string, 0, len(ts))
	for _, t := range ts {
		out = append(out, t.Name)
	}
	return out
}

// nonNil replaces nil by an empty slice, so that JSON has an empty list instead of null.
func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
