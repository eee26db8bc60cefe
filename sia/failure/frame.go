package failure

import (
	"bytes"
	"regexp"
)

// frame is what a CI system, rather than a program that it runs, says with a line.
type frame uint8

const (
	noFrame     frame = iota
	stepStart         // a step or command begins
	stepFailed        // the step or command that ran has failed
	stepPassed        // it has passed
	cleanup           // the job's own tidying up begins
	ciError           // the CI system marks an error itself
	echoed            // a command or setting that the CI system echoes, not output
	longCommand       // the first line of a command of several lines, with its exit to follow
)

var (
	actionsPrefix = []byte("##[")
	exitTravis    = regexp.MustCompile(`^The command .* (exited with|failed and exited with) (\d+)|^The command .* failed (\d+) times\.$`)
	exitLong      = regexp.MustCompile(`^" (?:exited with|failed and exited with) (\d+)`)
	exitActions   = regexp.MustCompile(`^##\[error\](\[OSDC\] )?(Process completed with exit code|Step script exited|The process '.*' failed with exit code)`)
)

// frameOf recognises the frames of GitHub Actions, Travis, GitLab, Jenkins and
// AppVeyor, and takes their markers out of the line's text.
func frameOf(l *line) frame {
	b := l.text
	if len(b) == 0 {
		return noFrame
	}
	switch b[0] {
	case '#':
		return actionsFrame(l)
	case 't':
		if bytes.HasPrefix(b, []byte("travis_")) {
			return travisFrame(l)
		}
	case 's':
		if bytes.HasPrefix(b, []byte("section_start:")) {
			l.text = nil
			return stepStart
		}
		if bytes.HasPrefix(b, []byte("section_end:")) {
			l.text = nil
			return echoed
		}
	case '$':
		if len(b) > 2 && b[1] == ' ' {
			return echoed
		}
	case '+':
		// A shell's trace of a command: "+ make test", "++ grep x".
		if t := bytes.TrimLeft(b, "+"); len(t) > 1 && t[0] == ' ' && len(b)-len(t) < 5 && t[1] > ' ' && !bytes.HasPrefix(t, []byte(" //")) {
			return echoed
		}
	case 'T':
		if bytes.HasPrefix(b, []byte("The command ")) {
			if m := exitTravis.FindSubmatch(b); m != nil {
				if string(m[2]) == "0" && len(m[3]) == 0 {
					return stepPassed
				}
				return stepFailed
			}
			if l.red && hasPrefix(b, `The command "`) {
				return longCommand
			}
		}
	case '"':
		if m := exitLong.FindSubmatch(b); m != nil {
			if string(m[1]) == "0" {
				return stepPassed
			}
			return stepFailed
		}
	case 'B':
		if bytes.HasPrefix(b, []byte("Build step '")) && bytes.HasSuffix(b, []byte("marked build as failure")) {
			return stepFailed
		}
	case 'D':
		if bytes.HasPrefix(b, []byte("Done. Your build exited with ")) {
			return cleanup
		}
	case 'P':
		if bytes.Equal(b, []byte("Post job cleanup.")) {
			return cleanup
		}
	case 'E':
		if bytes.HasPrefix(b, []byte("ERROR: Job failed")) {
			return stepFailed
		}
	case '[':
		if bytes.HasPrefix(b, []byte("[command]")) {
			return echoed
		}
	}
	return noFrame
}

// actionsFrame reads GitHub Actions' and Azure Pipelines' workflow commands as
// the runner prints them.
func actionsFrame(l *line) frame {
	b := l.text
	if !bytes.HasPrefix(b, actionsPrefix) {
		return noFrame
	}
	name, rest, ok := bytes.Cut(b[len(actionsPrefix):], []byte("]"))
	if !ok {
		return noFrame
	}
	switch string(name) {
	case "group", "section":
		if bytes.HasPrefix(rest, []byte("Run ")) || string(name) == "section" && bytes.HasPrefix(rest, []byte("Starting: ")) {
			return stepStart
		}
		return echoed
	case "error":
		if exitActions.Match(b) {
			l.text, l.actions = rest, true
			return stepFailed
		}
		l.text = rest
		return ciError
	case "endgroup", "command", "debug", "notice":
		return echoed
	case "warning":
		l.text = append([]byte("warning: "), rest...)
	}
	return noFrame
}

// travisFrame reads the markers of a Travis fold. What follows the last marker
// on the line is its text.
func travisFrame(l *line) frame {
	f := echoed
	for bytes.HasPrefix(l.text, []byte("travis_")) {
		end := bytes.IndexByte(l.text, ' ')
		if end < 0 {
			end = len(l.text)
		}
		marker := l.text[:end]
		if bytes.HasPrefix(marker, []byte("travis_time:start")) || bytes.HasPrefix(marker, []byte("travis_fold:start")) {
			f = stepStart
		}
		l.text = l.text[end:]
	}
	return f
}
