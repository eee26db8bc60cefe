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

// Limits of failing output.
const (
	maxOutput = 1 << 20 // bytes of one text
	maxTexts  = 20
	maxFrames = 500
	maxFailed = 100 // failing tests
)

// frame is a code location in a log.
type frame struct {
	path string // in the tree
	line int    // 1-based
}

var (
	// placeInLog matches a location in the format of compilers, test runners and most stack traces.
	placeInLog = lazyregexp.New(`([\w./\\@+-]*[\w-]\.[A-Za-z]{1,6}):(\d{1,7})\b`)
	// pythonFrame matches a line of a Python traceback.
	pythonFrame = lazyregexp.New(`File "([^"\n]{1,400})", line (\d{1,7})`)
)

// framesIn returns the code locations in a log, those nearest to the fault first. Python tracebacks are reversed, since
// the last call is at their end.
func (l *layout) framesIn(log string) []frame {
	var out, trace []frame
	endTrace := func() {
		slices.Reverse(trace)
		out, trace = append(out, trace...), nil
	}
	for line := range strings.Lines(log[:min(len(log), maxOutput)]) {
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
		if len(out)+len(trace) > maxFrames {
			break
		}
	}
	endTrace()
	return out
}

// readOutput finds the locations and the failing tests in the output. It skips unreadable output.
func (g *gathering) readOutput(ctx context.Context) {
	listed := map[Test]bool{}
	tests := slices.Concat(g.query.Tests, g.testsInText())
	for _, t := range tests {
		listed[t] = true
	}
	for _, log := range g.query.Output[:min(len(g.query.Output), maxTexts)] {
		log = log[:min(len(log), maxOutput)]
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
			for _, f := range frames { // a test file that does not build, or has an unknown runner
				if t := (Test{File: f.path}); isTest(f.path) && !listed[t] {
					listed[t] = true
					tests = append(tests, t)
				}
			}
		}
	}
	g.query.Tests = tests[:min(len(tests), maxFailed)]
}

// testInText matches the name of a test function in a text.
var testInText = lazyregexp.New(`\b(?:Test[A-Z]\w{2,}|test_\w{3,})\b`)

// testsInText returns the tests, and the test files, that the text names.
func (g *gathering) testsInText() (out []Test) {
	text := g.query.Text[:min(len(g.query.Text), maxText)]
	for _, m := range namedPath.FindAllString(text, 500) {
		if p := g.resolve(m); p != "" && isTest(p) && symbol.Knows(p) {
			out = append(out, Test{File: p})
		}
	}
	for _, n := range testInText.FindAllString(text, maxFailed) {
		out = append(out, Test{Name: n})
	}
	return out
}

// outputVotes votes for the code named in the output, in order of appearance.
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
	return sortVotes(votes)
}
