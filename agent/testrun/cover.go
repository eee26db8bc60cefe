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

// Coverer is a language with line coverage for single tests.
type Coverer interface {
	Language
	// Cover returns a suite that runs some tests, and others near them, separately, so that the lines of each are known.
	// A section of its output has a line "ran wanted STATUS" for each requested test, or "ran near STATUS" for another
	// one, followed by a line "PATH:FROM,TO" for each executed block of lines. The path may have leading folders that are
	// not part of the tree. ok is false if the tests can't be run so.
	Cover(tree Files, tests []locate.Test, read ReadFile) (s Suite, ok bool)
}

// Limits of coverage. Code under test can forge its coverage.
const (
	maxWanted  = 8      // failing tests that are run
	maxFailing = 4      // failing tests that are reported
	maxNear    = 32     // other tests that are run
	maxBlocks  = 10_000 // blocks of a test
)

// Cover runs tests that are expected to fail, and others near them, and returns the lines that each executed: first the
// failing tests, then the passing ones. It returns none if no test fails, or if the tests can't be run. On ctx's
// deadline it returns the runs so far.
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
		suite = r.Separate(l, suite, t.Files)
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

// wantedTests returns the files of tests, and the tests as JSON: pairs of a file and a name.
func wantedTests(tests []locate.Test) (files []string, which string) {
	wanted := [][2]string{}
	for _, t := range tests {
		if !slices.Contains(files, t.File) && len(files) < maxFailing {
			files = append(files, t.File)
		}
		wanted = append(wanted, [2]string{t.File, t.Name})
	}
	b, _ := json.Marshal(wanted) // strings can always be encoded
	return files, string(b)
}

// coverReader extracts coverage from sections that contain results in other suites.
type coverReader struct {
	Coverer
	failing, passing []locate.Run
}

// Results records the runs of a section.
func (c *coverReader) Results(out []byte) Results {
	for part := range bytes.SplitSeq(append([]byte("\n"), out...), []byte("\nran ")) {
		head, lines, _ := bytes.Cut(part, []byte("\n"))
		who, status, _ := strings.Cut(string(head), " ")
		run := locate.Run{Failed: status != "0", Blocks: readBlocks(lines)}
		switch {
		case len(run.Blocks) == 0 || who != "wanted" && who != "near":
		case !run.Failed && len(c.passing) < maxNear:
			c.passing = append(c.passing, run)
		case run.Failed && who == "wanted" && len(c.failing) < maxFailing:
			c.failing = append(c.failing, run)
		}
	}
	return nil
}

// readBlocks parses lines of "PATH:FROM,TO".
func readBlocks(text []byte) (out []locate.Block) {
	for line := range bytes.Lines(text) {
		at, lines := string(bytes.TrimRight(line, "\r\n")), ""
		if i := strings.LastIndexByte(at, ':'); i > 0 {
			at, lines = at[:i], at[i+1:]
		}
		first, last, _ := strings.Cut(lines, ",")
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 == nil && err2 == nil && from > 0 && to >= from && len(out) < maxBlocks {
			out = append(out, locate.Block{Path: at, From: from, To: to})
		}
	}
	return out
}
