package failure

import (
	"bytes"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// ciFrame is the meaning of a line that a CI system prints, rather than a program that it runs.
type ciFrame uint8

const (
	noFrame      ciFrame = iota
	stepStart            // a step begins
	maybeStart           // a step of GitHub Actions may begin; the next line decides
	settingsEnd          // end of the settings under a step's heading
	commandStart         // a command begins, and the line is its echo
	stepPassed           // the step or command has passed
	stepFailed           // the step or command has failed
	longCommand          // first line of the echo of a failed command of several lines
	cleanupStart         // the job's cleanup begins
	ciError              // a line that the CI system marks as an error
	echoedLine           // an echoed command or setting, not output
)

var (
	exitTravis  = lazyregexp.New(`^The command .* (?:exited with|failed and exited with) (\d+)`)
	retryTravis = lazyregexp.New(`^The command .* failed \d+ times\.$`)
	exitLong    = lazyregexp.New(`^" (?:exited with|failed and exited with) (\d+)`)
	endOthers   = lazyregexp.New(`^(ERROR: (Job failed|script returned exit code [1-9]|` +
		`build step \d+ ".*" failed: step exited with non-zero status)|` +
		`Error: Process completed with exit code [1-9]|Exited with code (exit status )?[1-9]|` +
		`Command exited with code [1-9]|Process exited with code [1-9]|🚨 Error: The command exited with status|` +
		`\[Container\] [\d/: .]*Command did not exit successfully)`)
	exitActions = lazyregexp.New(`^##\[error\](\[\w+\] )?(Process completed with exit code|Step script exited|` +
		`The process '.*' failed with exit code|(Bash|PowerShell|Cmd\.exe) exited with code '[1-9])`)
)

// siren is the first byte of 🚨, which begins the line that ends a step in Buildkite.
const siren = 0xf0

// frameOf recognises the frames of GitHub Actions, Azure Pipelines, Travis CI, GitLab, Jenkins, CircleCI, AppVeyor,
// Buildkite, TeamCity, Cloud Build, CodeBuild and shells, and removes their markers from the line's text.
func frameOf(l *line) ciFrame {
	b := l.text
	if len(b) < 2 {
		return noFrame
	}
	switch b[0] {
	case '#':
		return actionsFrame(l)
	case 't':
		return travisMarkers(l)
	case 'T', '"', 'D':
		return travisFrame(l)
	case 's':
		if hasPrefix(b, "section_start:") {
			l.text = nil
			return stepStart
		}
		if hasPrefix(b, "section_end:") {
			l.text = nil
			return echoedLine
		}
	case '$':
		if b[1] == ' ' {
			return commandStart
		}
	case '+':
		if isShellTrace(b) {
			return echoedLine
		}
	case 'B':
		if hasPrefix(b, "Build step '") && bytes.HasSuffix(b, []byte("marked build as failure")) {
			return stepFailed
		}
	case 'E', 'C', siren:
		if endOthers.Match(b) {
			return stepFailed
		}
	case 'P':
		if string(b) == "Post job cleanup." {
			return cleanupStart
		}
		if endOthers.Match(b) {
			return stepFailed
		}
	case '[':
		if hasPrefix(b, "[command]") {
			return echoedLine
		}
		if hasPrefix(b, "[Container]") && endOthers.Match(b) {
			return stepFailed
		}
	}
	return noFrame
}

// isShellTrace reports whether a line is a command traced by a shell: "+ make test", "++ date".
func isShellTrace(b []byte) bool {
	t := bytes.TrimLeft(b, "+")
	return len(b)-len(t) < 5 && len(t) > 1 && t[0] == ' ' && t[1] > ' ' && !hasPrefix(t, " //") &&
		!bytes.Contains(t, []byte("ERROR"))
}

// actionsFrame reads the workflow commands of GitHub Actions and Azure Pipelines
// as the runner prints them.
func actionsFrame(l *line) ciFrame {
	if !hasPrefix(l.text, "##[") {
		return noFrame
	}
	name, rest, ok := bytes.Cut(l.text[len("##["):], []byte("]"))
	if !ok {
		return noFrame
	}
	switch string(name) {
	case "group":
		if hasPrefix(rest, "Run ") {
			return maybeStart
		}
		return echoedLine
	case "section":
		if hasPrefix(rest, "Starting: ") {
			return stepStart
		}
		return echoedLine
	case "endgroup":
		return settingsEnd
	case "command", "debug", "notice":
		return echoedLine
	case "warning":
		l.text = append([]byte("warning: "), rest...)
	case "error":
		exit := exitActions.Match(l.text)
		l.text = rest
		if exit {
			l.actions = true
			return stepFailed
		}
		return ciError
	}
	return noFrame
}

// stepHeading returns the title in a step's heading: the first line of its script, or its action.
func stepHeading(text []byte) []byte { return bytes.TrimPrefix(text, []byte("##[group]Run ")) }

// travisMarkers reads the fold and time markers of Travis CI. The line's text follows the last marker.
func travisMarkers(l *line) ciFrame {
	f := noFrame
	for hasPrefix(l.text, "travis_fold:") || hasPrefix(l.text, "travis_time:") {
		if f == noFrame {
			f = echoedLine
		}
		marker, rest, _ := bytes.Cut(l.text, []byte(" "))
		if hasPrefix(marker[len("travis_fold:"):], "start") {
			f = stepStart
		}
		l.text = rest
	}
	return f
}

// travisFrame recognises the lines with which Travis CI ends a command and the job.
func travisFrame(l *line) ciFrame {
	b := l.text
	m := exitTravis.FindSubmatch(b)
	if m == nil {
		m = exitLong.FindSubmatch(b)
	}
	switch {
	case m != nil && string(m[1]) == "0":
		return stepPassed
	case m != nil, retryTravis.Match(b):
		return stepFailed
	case l.red && hasPrefix(b, `The command "`):
		return longCommand
	case hasPrefix(b, "Done. Your build exited with "):
		return cleanupStart
	}
	return noFrame
}
