package testrun

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Outcome is the result of one test.
type Outcome string

// The outcomes.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped"
)

// Results are the outcomes of one run of one group, by the runner's names.
type Results map[string]Outcome

// add adds a test. If it ran several times, one failure counts.
func (r Results) add(test string, outcome Outcome) {
	if r[test] != Failed {
		r[test] = outcome
	}
}

// Runs is the number of runs of each test at each end. Differing results are dropped.
const Runs = 2

// Report is the result of a suite at one end.
type Report struct {
	Builds map[string]string // output of failed builds, by group
	Runs   [Runs]Results     // by "group::name"
	Groups []string          // groups that were run twice
	Ends   map[string]End    // how the first run of each group ended
	Log    string            // end of the whole output
	Ended  string            // why the sandbox ended it; "": it was not ended
}

// End describes the end of one run of one group.
type End struct {
	Status   int  // exit status; -1: it was ended
	LastWord bool // as in [Language]
	// Why it failed if no test passed: an error, or else the end of the output.
	Why string `json:",omitempty"`
}

// errorLine matches the last line of an interpreter or a runner that can't load a test file.
var errorLine = lazyregexp.New(`(?m)^(?:E\s+)?((?:[\w.]+\.)?\w*(?:Error|Exception): .*)$`)

// whyFailed returns why no test of a run passed; "": one did, or there was none.
func whyFailed(out []byte, found Results) string {
	outcome := slices.Collect(maps.Values(found))
	if slices.Contains(outcome, Passed) {
		return ""
	}
	out, _, _ = bytes.Cut(out, []byte("<testsuite")) // without the report, which repeats the error
	if errors := errorLine.FindAllSubmatch(out, -1); len(errors) > 0 {
		return Tail(string(errors[len(errors)-1][1]))
	}
	if !slices.Contains(outcome, Failed) {
		return ""
	}
	return Tail(string(out))
}

// Ran reports whether a test had an outcome in the first run, and in the second if there was one.
func (r Report) Ran(test string, want Outcome) bool {
	group, _, _ := strings.Cut(test, "::")
	return r.Runs[0][test] == want && (!slices.Contains(r.Groups, group) || r.Runs[1][test] == want)
}

// All reports whether a test had an outcome in every run.
func (r Report) All(test string, want Outcome) bool {
	return !slices.ContainsFunc(r.Runs[:], func(one Results) bool { return one[test] != want })
}

// Limits of one run of one group. A run beyond them counts as not ended, since its results are incomplete.
const (
	maxSection = 16 << 20 // bytes of output, also of a build
	maxTests   = 20_000
)

// reportReader splits the output of a suite's script into sections. It is the Output of a command.
type reportReader struct {
	lang  Language
	token string // prefix of marks, so that a test can't forge them
	out   Report
	times map[string]int // runs of each group so far

	line    []byte // incomplete line
	kind    string // of the open section: "build", "run" or ""
	group   string
	section bytes.Buffer
	cut     bool // the section was truncated
}

func newReportReader(l Language, token string) *reportReader {
	r := &reportReader{lang: l, token: token, times: map[string]int{}}
	r.out.Builds, r.out.Ends = map[string]string{}, map[string]End{}
	for i := range r.out.Runs {
		r.out.Runs[i] = Results{}
	}
	return r
}

// shellFunctions returns the functions for a script: mark, and limited, which runs a command with a timeout and sets
// $status to its exit status, or -1 if it timed out.
func shellFunctions(token string, within time.Duration) string {
	return fmt.Sprintf("mark() { printf '\\n%%s %%s\\n' %s \"$*\"; }\n", token) +
		fmt.Sprintf("limited() { timeout -k 5 %d \"$@\"; status=$?; ", int(within.Seconds())) +
		"case $status in 124|137) status=-1;; esac; }\n"
}

// maxLine is the maximum size of a line that may be a mark, in bytes.
const maxLine = 8 << 10

// Write parses more of the output.
func (r *reportReader) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			r.line = append(r.line, p...)
			if len(r.line) > maxLine {
				r.keep(r.line)
				r.line = r.line[:0]
			}
			break
		}
		r.line = append(r.line, p[:i+1]...)
		r.readLine(r.line)
		r.line, p = r.line[:0], p[i+1:]
	}
	return n, nil
}

func (r *reportReader) readLine(line []byte) {
	mark, isMark := strings.CutPrefix(strings.TrimRight(string(line), "\n"), r.token+" ")
	if !isMark {
		r.keep(line)
		return
	}
	verb, rest, _ := strings.Cut(mark, " ")
	switch verb {
	case "build", "run":
		r.close(-1)
		r.kind, r.group = verb, rest
	case "end":
		status, err := strconv.Atoi(rest)
		if err != nil {
			status = -1
		}
		r.close(status)
	}
}

func (r *reportReader) keep(b []byte) {
	if r.kind != "" {
		room := min(maxSection-r.section.Len(), len(b))
		r.section.Write(b[:room])
		r.cut = r.cut || room < len(b)
	}
}

// close ends the open section.
func (r *reportReader) close(status int) {
	switch r.kind {
	case "build":
		if status != 0 {
			r.out.Builds[r.group] = r.section.String()
		}
	case "run":
		n := r.times[r.group]
		if r.times[r.group]++; n >= Runs {
			break
		}
		found := r.lang.Results(r.section.Bytes())
		if len(found) > maxTests {
			found, r.cut = nil, true
		}
		if r.cut {
			status = -1
		}
		if n == 0 {
			end := End{Status: status, LastWord: r.lang.LastWord(r.section.Bytes())}
			if status > 0 {
				end.Why = whyFailed(r.section.Bytes(), found)
			}
			r.out.Ends[r.group] = end
		}
		for name, o := range found {
			r.out.Runs[n][r.group+"::"+name] = o
		}
		if n == Runs-1 {
			r.out.Groups = append(r.out.Groups, r.group)
		}
	}
	r.kind, r.cut = "", false
	r.section.Reset()
}

// finish returns the report at the end of the output.
func (r *reportReader) finish() Report {
	r.keep(r.line)
	r.line = nil
	r.close(-1)
	return r.out
}

// unfetched appends why to the logs of the builds that lack a dependency.
func (r Report) unfetched(l Language, why string) {
	for group, log := range r.Builds {
		if l.Lacks(log) {
			r.Builds[group] = strings.TrimSpace(log) + "\n" + why
		}
	}
}

// Lacks reports whether a build failed for lack of a dependency.
func (r Report) Lacks(l Language) bool {
	for _, log := range r.Builds {
		if l.Lacks(log) {
			return true
		}
	}
	return false
}
