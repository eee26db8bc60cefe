package replay

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// outcome is how one test ended.
type outcome string

const (
	passed  outcome = "passed"
	failed  outcome = "failed"
	skipped outcome = "skipped"
)

// results are the tests of one run of one group, by the runner's names.
type results map[string]outcome

// runs is how often tests are run at each end. What does not come out alike is thrown away.
const runs = 2

// report is what came of a suite at one end.
type report struct {
	builds map[string]string // output of builds that failed, by group
	runs   [runs]results     // by "group::name"
	groups []string          // that were run twice
	log    string            // the end of everything that was printed
	ended  string            // why the sandbox ended it; "": it ended by itself
}

// all reports whether a test came out so in every run.
func (r report) all(test string, want outcome) bool {
	return !slices.ContainsFunc(r.runs[:], func(one results) bool { return one[test] != want })
}

// anyFlaky reports whether a test of a group that ran twice did not come out alike.
func (r report) anyFlaky() bool {
	for _, one := range r.runs {
		for test := range one {
			group, _, _ := strings.Cut(test, "::")
			if slices.Contains(r.groups, group) && r.runs[0][test] != r.runs[1][test] {
				return true
			}
		}
	}
	return false
}

// anyFailed reports whether a test failed in every run that the other end knows, too.
func (r report) anyFailed(other report) bool {
	for test := range r.runs[0] {
		if _, known := other.runs[0][test]; known && r.all(test, failed) {
			return true
		}
	}
	return false
}

// maxSection bounds the output of one build or run that is kept, in bytes.
const maxSection = 16 << 20

// maxTests bounds the tests of one run; what comes after is not seen.
const maxTests = 20_000

// reportReader takes what a suite's script prints apart. It is the Output of a command.
type reportReader struct {
	lang  language
	token string // that marks begin with, so that a test's output is not taken for one
	out   report
	times map[string]int // runs of each group so far

	line    []byte // begun
	kind    string // of the section that is open: "build", "run" or ""
	group   string
	section bytes.Buffer
}

func newReportReader(l language, token string) *reportReader {
	r := &reportReader{lang: l, token: token, times: map[string]int{}}
	r.out.builds = map[string]string{}
	for i := range r.out.runs {
		r.out.runs[i] = results{}
	}
	return r
}

// shellFunctions is what a script begins with.
func shellFunctions(token string) string {
	return fmt.Sprintf("mark() { printf '\\n%%s %%s\\n' %s \"$*\"; }\n", token)
}

// maxLine bounds a line that is looked at for a mark, in bytes. A mark is shorter.
const maxLine = 8 << 10

// Write takes more of the output.
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
	said, isMark := strings.CutPrefix(strings.TrimRight(string(line), "\n"), r.token+" ")
	if !isMark {
		r.keep(line)
		return
	}
	verb, rest, _ := strings.Cut(said, " ")
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
	if room := maxSection - r.section.Len(); r.kind != "" && room > 0 {
		r.section.Write(b[:min(room, len(b))])
	}
}

// close ends the section that is open.
func (r *reportReader) close(status int) {
	switch r.kind {
	case "build":
		if status != 0 {
			r.out.builds[r.group] = r.section.String()
		}
	case "run":
		n := r.times[r.group]
		if r.times[r.group]++; n < runs {
			for name, o := range r.lang.results(r.section.Bytes()) {
				if len(r.out.runs[n]) < maxTests {
					r.out.runs[n][r.group+"::"+name] = o
				}
			}
			if n == runs-1 {
				r.out.groups = append(r.out.groups, r.group)
			}
		}
	}
	r.kind = ""
	r.section.Reset()
}

// finish is the report, when nothing more is printed.
func (r *reportReader) finish() report {
	r.keep(r.line)
	r.line = nil
	r.close(-1)
	return r.out
}

// positional are names that the runner made of a test's place among others of the same name: another
// tree may give them to another test.
var positional = regexp.MustCompile(`#\d+(/|$)`)

// turned are the tests that fail in every run before and pass in every run after: of tests within
// tests only the innermost.
func turned(before, after report) (out []string) {
	fails := map[string]bool{}
	for test := range before.runs[0] {
		if before.all(test, failed) && after.all(test, passed) && !positional.MatchString(test) {
			fails[test] = true
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(fails)), func(test string) bool {
		for other := range fails {
			if strings.HasPrefix(other, test+"/") {
				return true
			}
		}
		return false
	})
}

// maxPassing bounds the names of tests that have to go on passing.
const maxPassing = 300

// unmoved are the outermost tests that pass in every run at both ends.
func unmoved(before, after report) (out []string) {
	for _, test := range slices.Sorted(maps.Keys(after.runs[0])) {
		_, name, _ := strings.Cut(test, "::")
		if len(out) < maxPassing && before.all(test, passed) && after.all(test, passed) &&
			!strings.Contains(name, "/") && !positional.MatchString(test) {
			out = append(out, test)
		}
	}
	return out
}
