package runner

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxLog bounds one job's log, in bytes; it notes that the rest is left out.
const maxLog = 64 << 20

// runLog is a job's log in the format of GitHub Actions' logs: each line has a timestamp with seven decimals;
// ##[group], ##[endgroup], ##[error] and the like mark sections. Workflow commands in the output become marks and
// annotations. Safe for concurrent use.
type runLog struct {
	mu          sync.Mutex
	now         func() time.Time
	buf         bytes.Buffer
	partial     []byte
	full        bool
	annotations []Annotation
}

// Write adds a step's output.
func (l *runLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partial = append(l.partial, p...)
	for {
		n := bytes.IndexByte(l.partial, '\n')
		if n < 0 {
			return len(p), nil
		}
		l.line(strings.TrimSuffix(string(l.partial[:n]), "\r"))
		l.partial = l.partial[n+1:]
	}
}

// flush ends a last line without a newline.
func (l *runLog) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.partial) > 0 {
		l.line(string(l.partial))
		l.partial = nil
	}
}

// printf writes lines of the runner.
func (l *runLog) printf(format string, args ...any) {
	l.flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		l.raw(line)
	}
}

func (l *runLog) raw(line string) {
	if l.full {
		return
	}
	if l.buf.Len()+len(line) > maxLog {
		l.full, line = true, "##[warning]The log is too long; the rest is left out."
	}
	l.buf.WriteString(l.now().UTC().Format("2006-01-02T15:04:05.0000000Z "))
	l.buf.WriteString(line)
	l.buf.WriteByte('\n')
}

// command is a workflow command in a step's output: ::error file=a.go,line=3::text.
// https://docs.github.com/en/actions/writing-workflows/choosing-what-your-workflow-does/workflow-commands-for-github-actions
var command = regexp.MustCompile(`^::(error|warning|notice|debug|group|endgroup|add-mask)` +
	`(?: ([^:]*(?::[^:]+)*?))?::(.*)$`)

// maxCommandAnnotations is how many annotations of each level a step may make.
const maxCommandAnnotations = 10

func (l *runLog) line(text string) {
	m := command.FindStringSubmatch(text)
	if m == nil {
		l.raw(text)
		return
	}
	switch m[1] {
	case "debug", "add-mask":
		return
	case "group", "endgroup":
		l.raw("##[" + m[1] + "]" + m[3])
		return
	}
	l.raw("##[" + m[1] + "]" + m[3])
	if len(l.annotations) < maxCommandAnnotations {
		l.annotations = append(l.annotations, commandAnnotation(m[1], m[2], m[3]))
	}
}

func commandAnnotation(level, properties, message string) Annotation {
	if level == "error" {
		level = "failure"
	}
	a := Annotation{Path: ".github", StartLine: 1, EndLine: 1, Level: level, Message: unescapeCommand(message)}
	for p := range strings.SplitSeq(properties, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(p), "=")
		v = unescapeCommand(v)
		n, err := strconv.Atoi(v)
		switch {
		case k == "file" && v != "":
			a.Path = v
		case k == "title":
			a.Title = &v
		case k == "line" && err == nil:
			a.StartLine, a.EndLine = n, max(n, a.EndLine)
		case k == "endLine" && err == nil:
			a.EndLine = n
		case k == "col" && err == nil:
			a.StartColumn = &n
		case k == "endColumn" && err == nil:
			a.EndColumn = &n
		}
	}
	return a
}

var commandEscapes = strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")

func unescapeCommand(s string) string { return commandEscapes.Replace(s) }
