package locate

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/agent/tool/symbol"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Bounds of failing output.
const (
	mostOutput = 1 << 20 // bytes of one text
	mostTexts  = 20
	mostFrames = 500
	mostFailed = 100 // failing tests
)

// frame is a place of a file that a log names.
type frame struct {
	path string // of the tree
	line int    // 1-based
}

var (
	// placeInLog is how compilers, test runners and most languages' stack traces name a line.
	placeInLog = lazyregexp.New(`([\w./\\@+-]*[\w-]\.[A-Za-z]{1,6}):(\d{1,7})\b`)
	// pythonFrame is a line of a traceback of Python.
	pythonFrame = lazyregexp.New(`File "([^"\n]{1,400})", line (\d{1,7})`)
)

// framesIn lists the places that a log names, those nearest to the fault first. Traces of Python are read from their
// end, since what was called last stands there.
func (l *layout) framesIn(log string) []frame {
	var out, trace []frame
	endTrace := func() {
		slices.Reverse(trace)
		out, trace = append(out, trace...), nil
	}
	for line := range strings.Lines(log[:min(len(log), mostOutput)]) {
		if len(line) > 2000 {
			line = line[:2000]
		}
		matches := pythonFrame.FindAllStringSubmatch(line, 4)
		if matches == nil {
			matches = placeInLog.FindAllStringSubmatch(line, 4)
		}
		for _, m := range matches {
			p := l.resolve(m[1])
			n, err := strconv.Atoi(m[2])
			if p == "" || err != nil {
				continue
			}
			if path.Ext(p) == ".py" {
				trace = append(trace, frame{p, n})
			} else {
				out = append(out, frame{p, n})
			}
		}
		if strings.HasPrefix(line, "____") || strings.HasPrefix(line, "====") || strings.HasPrefix(line, "Traceback") {
			endTrace()
		}
		if len(out)+len(trace) > mostFrames {
			break
		}
	}
	endTrace()
	return out
}

// readOutput finds the places and the failing tests that the output names. Output that can't be read names none.
func (g *gathering) readOutput(ctx context.Context) {
	listed := map[Test]bool{}
	tests := slices.Concat(g.query.Tests, g.testsInText())
	for _, t := range tests {
		listed[t] = true
	}
	for _, log := range g.query.Output[:min(len(g.query.Output), mostTexts)] {
		log = log[:min(len(log), mostOutput)]
		frames := g.framesIn(log)
		g.frames = append(g.frames, frames...)
		rep, err := failure.Read(ctx, strings.NewReader(log), failure.Options{})
		if err != nil {
			continue
		}
		for _, t := range rep.Tests {
			found := Test{File: g.resolve(t.File), Name: t.Name}
			if t.File == "" || !listed[found] {
				listed[found] = true
				tests = append(tests, found)
			}
		}
		if len(rep.Tests) == 0 {
			for _, f := range frames { // a test file that does not even build, or has an unknown runner
				if t := (Test{File: f.path}); isTest(f.path) && !listed[t] {
					listed[t] = true
					tests = append(tests, t)
				}
			}
		}
	}
	g.query.Tests = tests[:min(len(tests), mostFailed)]
}

// testInText is how a text names a test by the name of its definition.
var testInText = lazyregexp.New(`\b(?:Test[A-Z]\w{2,}|test_\w{3,})\b`)

// testsInText are the tests, and the files of tests, that the text names.
func (g *gathering) testsInText() (out []Test) {
	text := g.query.Text[:min(len(g.query.Text), maxText)]
	for _, m := range namedPath.FindAllString(text, 500) {
		if p := g.resolve(m); p != "" && isTest(p) && symbol.Knows(p) {
			out = append(out, Test{File: p})
		}
	}
	for _, n := range testInText.FindAllString(text, mostFailed) {
		out = append(out, Test{Name: n})
	}
	return out
}

// outputVotes are for the code that the output names, what was named first before the others.
func (g *gathering) outputVotes() []Vote {
	var votes []Vote
	seen := map[string]bool{}
	for _, f := range g.frames {
		if seen[f.path] || !isCode(f.path) {
			continue
		}
		seen[f.path] = true
		votes = append(votes, Vote{Path: f.path, Score: 1 / float64(len(votes)+1),
			Why: "in the failing output, line " + strconv.Itoa(f.line)})
	}
	return ordered(votes)
}
