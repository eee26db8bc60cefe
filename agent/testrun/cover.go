package testrun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/agent/locate"
)

// Coverer is a language that can say which lines a test runs.
type Coverer interface {
	Language
	// Cover is a suite that runs some tests, and others near them, one by one, so that the lines of each are known. A
	// section of it has a line "ran wanted STATUS" for each test that was asked for, "ran near STATUS" for another, and
	// after it a line "PATH:FROM,TO" for each block of lines that it ran. The path may have folders in front that the tree
	// does not know. ok is false where it is not known how.
	Cover(tree Files, tests []locate.Test, read ReadFile) (s Suite, ok bool)
}

// Bounds of coverage. Code under test can make what it is said to have run up.
const (
	mostWanted  = 8      // tests that are run, of those that fail
	mostFailing = 4      // of them that are reported
	mostNear    = 32     // tests that are run beside them
	mostBlocks  = 10_000 // of one test
)

// Cover runs tests that are thought to fail, and others near them, and says which lines each of them ran: first those
// that do fail, and then those that pass. There are none where no test fails or it is not known how to run it. What ran
// before ctx's deadline came counts.
func (r *Runner) Cover(ctx context.Context, t Tree, tests []locate.Test) ([]locate.Run, error) {
	for _, l := range Languages() {
		c, can := l.(Coverer)
		if !can || !r.Has(l.Program()) {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(tests), func(t locate.Test) bool { return !l.Runs(t.File) })
		suite, ok := c.Cover(t.Files, own, r.Reader(t.Files, nil))
		if !ok {
			continue
		}
		if err := t.At.Set(ctx, t.Files, nil, suite.Links); err != nil {
			return nil, err
		}
		reader := &coverReader{Coverer: c}
		rep, why, err := r.RunPrepared(ctx, reader, suite, t)
		switch late := errors.Is(ctx.Err(), context.DeadlineExceeded); {
		case len(reader.failing) > 0 && (err == nil || late):
			return slices.Concat(reader.failing, reader.passing), nil
		case err != nil:
			return nil, err
		case why != "":
			return nil, fmt.Errorf("what they depend on could not be fetched: %s", why)
		case len(rep.Builds) > 0:
			return nil, errors.New("they can't be built")
		}
	}
	return nil, nil
}

// asked are the files of tests, and the tests as JSON: pairs of a file and a name.
func asked(tests []locate.Test) (files []string, which string) {
	wanted := [][2]string{}
	for _, t := range tests {
		if !slices.Contains(files, t.File) && len(files) < mostFailing {
			files = append(files, t.File)
		}
		wanted = append(wanted, [2]string{t.File, t.Name})
	}
	b, _ := json.Marshal(wanted) // strings are always JSON
	return files, string(b)
}

// coverReader takes what tests ran out of the sections in which other suites have results.
type coverReader struct {
	Coverer
	failing, passing []locate.Run
}

// Results keeps the runs of a section.
func (c *coverReader) Results(out []byte) Results {
	for part := range bytes.SplitSeq(append([]byte("\n"), out...), []byte("\nran ")) {
		head, lines, _ := bytes.Cut(part, []byte("\n"))
		who, status, _ := strings.Cut(string(head), " ")
		run := locate.Run{Failed: status != "0", Blocks: readBlocks(lines)}
		switch {
		case len(run.Blocks) == 0 || who != "wanted" && who != "near":
		case !run.Failed && len(c.passing) < mostNear:
			c.passing = append(c.passing, run)
		case run.Failed && who == "wanted" && len(c.failing) < mostFailing:
			c.failing = append(c.failing, run)
		}
	}
	return nil
}

// readBlocks reads lines of "PATH:FROM,TO".
func readBlocks(text []byte) (out []locate.Block) {
	for line := range bytes.Lines(text) {
		at, lines := string(bytes.TrimRight(line, "\r\n")), ""
		if i := strings.LastIndexByte(at, ':'); i > 0 {
			at, lines = at[:i], at[i+1:]
		}
		first, last, _ := strings.Cut(lines, ",")
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 == nil && err2 == nil && from > 0 && to >= from && len(out) < mostBlocks {
			out = append(out, locate.Block{Path: at, From: from, To: to})
		}
	}
	return out
}
