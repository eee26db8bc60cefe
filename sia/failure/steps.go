package failure

import (
	"bytes"
	"slices"
)

// noStep is the step of a block in the job's cleanup.
const noStep = -1

// maxCommand is the maximum length of a failed command that a CI system echoes, in lines.
const maxCommand = 60

// stepState is the reader's position in a job.
type stepState struct {
	step             int
	group            uint64     // hash of the job and step that the last line named
	cleaningUp       bool       // the job's cleanup runs
	heading          textLine   // a possible heading of a step, on the line above; line 0 without one
	settings         int        // line of a step's heading, until the end of its settings; 0 after them
	script           []textLine // commands that the step runs, as the CI system shows them
	output           int        // number of lines that the step has printed
	inCommand        int        // first line of the echo of a failed command of several lines; 0 outside one
	ended            []stepEnding
	lastError        stepEnding // the last error that the CI system marked; line 0 without one
	outputAfterError bool       // the step printed something after it
	stopped          *block     // last output of the canceled step; nil without one
	stepStarts       []int      // first lines of steps in GitHub Actions, ascending
	fetchers         []int      // those of these steps that are fetchers, ascending
}

// stepEnding is where a step failed.
type stepEnding struct {
	line    int
	step    int
	text    string
	actions bool // the line is GitHub Actions'
	script  []textLine
}

// scriptRule is the rule for the script of a step that failed without output.
var scriptRule = rule{name: "the script of a step that failed without a word", extent: singleLine, weight: 30,
	class: ConfigError}

// exitRule is the rule for the line that ends a failed step.
var exitRule = rule{name: "the end of the failed step", extent: singleLine, weight: 5, class: Unknown}

// lostRule is the rule for a step that ended because its machine was lost.
var lostRule = rule{name: "the machine", extent: singleLine, weight: 78, class: Infrastructure}

// exitStatuses are exit statuses that reveal why a command failed: those of timeout(1), of a command that does not
// exist (POSIX.1-2024, 2.8.2), and of signals, to which shells add 128.
var exitStatuses = []struct {
	suffix string
	rule   rule
}{
	{" 124", rule{name: "exit status 124: a timeout", extent: singleLine, weight: 66, class: Timeout}},
	{" 127", rule{name: "exit status 127: a missing command", extent: singleLine, weight: 30, class: ConfigError}},
	{" 134", rule{name: "exit status 134: an abort", extent: singleLine, weight: 40, class: Crash}},
	{" 137", rule{name: "exit status 137: killed", extent: singleLine, weight: 62, class: OutOfMemory}},
	{" 139", rule{name: "exit status 139: a segmentation fault", extent: singleLine, weight: 62, class: Crash}},
}

// follow updates the state from the CI system's lines. It reports whether the line cannot be about a failure, because
// it is the system's own or the echo of a command.
func (r *logReader) follow(l *line) bool {
	if l.group != r.group && l.group != 0 { // a line without a group belongs to the one above
		r.group = l.group
		r.nextStep()
	}
	if r.heading.n > 0 {
		r.beginStep(l)
	}
	switch l.frame {
	case stepStart:
		r.nextStep()
	case maybeStart:
		r.heading = textLine{n: l.n, text: string(clipText(stepHeading(l.text)))}
	case settingsEnd:
		r.settings = 0
	case commandStart:
		r.nextStep()
	case stepPassed:
		if r.inCommand > 0 {
			r.unmarkFailed()
		}
		r.nextStep()
	case stepFailed:
		r.close()
		r.noteExit(l)
		if r.inCommand > 0 {
			r.inCommand = 0
			return true
		}
		r.markFailed(l)
	case longCommand:
		r.close()
		r.markFailed(l)
		r.inCommand = l.n
	case cleanupStart:
		r.nextStep()
		r.cleaningUp = true
	case ciError:
		r.close()
		if r.stopped == nil && string(l.text) == "The operation was canceled." {
			r.stopped = r.lastOutput(l)
		}
		return false
	case echoedLine:
		if r.open != nil && hasPrefix(l.text, "+") {
			// A line of a diff is more likely than a shell's trace.
			return false
		}
	default:
		if r.inCommand > 0 && l.n-r.inCommand < maxCommand {
			return true
		}
		if r.settings == 0 {
			r.output++
			return false
		}
		r.keepCommand(l)
		return true
	}
	r.ring.put(l.n, nil, 0, 0, false)
	return true
}

// maxStepStarts is the maximum number of steps with a recorded first line.
const maxStepStarts = 1000

// stepLine returns the number of a line of the log within its step; 0 when no step began before it.
func (r *logReader) stepLine(n int) int {
	i, found := slices.BinarySearch(r.stepStarts, n)
	if !found {
		i--
	}
	if n == 0 || i < 0 {
		return 0
	}
	return n - r.stepStarts[i] + 1
}

// beginStep begins a step if line l is what GitHub Actions prints under a step's heading: the script or the settings. A
// script's own group may look like such a heading.
func (r *logReader) beginStep(l *line) {
	heading := r.heading
	r.heading.n = 0
	switch {
	case l.script, l.frame == settingsEnd, hasPrefix(l.text, "shell: "), string(l.text) == "with:",
		string(l.text) == "env:", string(clipText(bytes.TrimSpace(l.text))) == heading.text:
	default:
		return
	}
	r.nextStep()
	r.settings, r.cleaningUp = heading.n, false // another job may follow in the log
	if len(r.stepStarts) < maxStepStarts {
		r.stepStarts = append(r.stepStarts, heading.n)
		if fetcher.MatchString(heading.text) {
			r.fetchers = append(r.fetchers, r.step)
		}
	}
}

// keepCommand keeps a line of the script that a step's settings show. The script ends where the shell is named.
func (r *logReader) keepCommand(l *line) {
	if n := len(r.script); n < maxAbove && l.n == r.settings+n+1 && !hasPrefix(l.text, "shell: ") {
		r.script = append(r.script, textLine{n: l.n, text: string(clipText(l.text))})
	}
}

func (r *logReader) nextStep() {
	r.endByError()
	r.ring.forget()
	r.step++
	r.settings, r.inCommand, r.output = 0, 0, 0
	r.script = r.script[:0]
}

// endStep records that a step has failed and marks its blocks.
func (r *logReader) endStep(e stepEnding) {
	r.close()
	r.lastError.line = 0
	for _, b := range r.kept {
		if b.step == e.step && !b.failed {
			b.failed, b.distance = true, max(0, e.line-b.end-(r.traced-b.tracedBy))
		}
	}
	if len(r.ended) < maxEndings {
		r.ended = append(r.ended, e)
	}
}

// endByError marks the step as failed if its last output is an error. An error with output after it did not end the
// step: problem matchers also mark lines of passing tests and of retried operations.
func (r *logReader) endByError() {
	r.close()
	if r.lastError.line > 0 && !r.outputAfterError {
		r.endStep(r.lastError)
	}
}

// ending returns the ending of the current step at line l.
func (r *logReader) ending(l *line) stepEnding {
	return stepEnding{line: l.n, step: r.step, text: string(clipText(l.text)), actions: l.actions,
		script: slices.Clone(r.script)}
}

// markFailed handles a line in which the CI system reports that the step has failed.
func (r *logReader) markFailed(l *line) {
	full := len(r.ended) == maxEndings
	r.endStep(r.ending(l))
	switch {
	case full:
	case r.output == 0 && len(r.script) > 0:
		b := &block{rule: &scriptRule, start: r.script[0].n, head: r.script[0].n, test: -1, step: r.step, failed: true}
		for _, t := range r.script {
			b.add(t)
		}
		r.keep(b)
	default:
		r.noteAbove(l, &endRule)
	}
}

// unmarkFailed undoes markFailed when the end of a long command reports that it passed.
func (r *logReader) unmarkFailed() {
	if n := len(r.ended); n > 0 && r.ended[n-1].line == r.inCommand {
		r.ended = r.ended[:n-1]
	}
	for _, b := range r.kept {
		if b.step == r.step {
			b.failed = false
		}
	}
}

// noteExit records the meaning of the line that ends a failed step: a lost machine or an exit status.
func (r *logReader) noteExit(l *line) {
	if machineWords.Match(l.text) {
		r.keep(r.singleBlock(&lostRule, l))
	}
	for i := range exitStatuses {
		if bytes.HasSuffix(bytes.TrimRight(l.text, "."), []byte(exitStatuses[i].suffix)) {
			r.keepStatus(&exitStatuses[i].rule, l)
		}
	}
}

// keepStatus records an exit status: on the paragraph above it for a configuration error, else as a block of its own.
func (r *logReader) keepStatus(status *rule, l *line) {
	if status.class == ConfigError {
		if b := r.noteAbove(l, &endRule); b != nil {
			b.lift = status
			return
		}
	}
	r.keep(r.singleBlock(status, l))
}

// singleBlock returns a block of one line.
func (r *logReader) singleBlock(ru *rule, l *line) *block {
	b := &block{rule: ru, start: l.n, head: l.n, test: -1, step: r.step}
	b.add(textLine{n: l.n, text: string(clipText(l.text))})
	return b
}
