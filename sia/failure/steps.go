package failure

import (
	"bytes"
	"slices"
)

// noStep is the step of what stands where a job tidies up.
const noStep = -1

// maxCommand bounds a command that a CI system echoes when it has failed, in lines.
const maxCommand = 60

// stepState is where in a job the reader is.
type stepState struct {
	step      int
	group     uint64     // job and step that the last line named
	tidying   bool       // the job tidies up
	heading   textLine   // of a step, if what stands under it is such; line 0 where the line above is none
	settings  int        // line of a step's heading, until its settings end; 0 after them
	script    []textLine // the commands that the step runs, as the CI system shows them
	output    int        // lines that the step has said
	inCommand int        // line at which the echo of a failed command of several lines began; 0 outside one
	ended     []stepEnding
	lastError stepEnding // the last error that the CI system marks; line 0 without one
	wentOn    bool       // the step said something after it
	stopped   *block     // what the step that was cancelled said last; nil without one
	begun     []int      // lines with which GitHub Actions began steps, ascending
	fetchers  []int      // steps of these that are fetchers, ascending
}

// stepEnding is where a step failed.
type stepEnding struct {
	line    int
	step    int
	text    string
	actions bool // GitHub Actions says so
	script  []textLine
}

// scriptRule is the rule for the script of a step that failed without a word.
var scriptRule = rule{name: "the script of a step that failed without a word", extent: singleLine, weight: 30,
	class: ConfigError}

// exitRule is the rule for the line that ends a failed step.
var exitRule = rule{name: "the end of the failed step", extent: singleLine, weight: 5, class: Unknown}

// lostRule is the rule for a step that the CI system ends by saying that its machine is lost.
var lostRule = rule{name: "the machine", extent: singleLine, weight: 78, class: Infrastructure}

// exitStatuses are exit statuses that say why a command failed: of timeout(1),
// of a command that does not exist (POSIX.1-2024, 2.8.2), and of signals, to
// which shells add 128.
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

// follow follows what the CI system says. It reports whether the line can't
// tell of a failure: because it is the system's own, or the echo of a command.
func (r *logReader) follow(l *line) bool {
	if l.group != r.group && l.group != 0 { // a line without one goes on with the one above
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
			r.takeBackFailure()
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
		r.tidying = true
	case ciError:
		r.close()
		if r.stopped == nil && string(l.text) == "The operation was canceled." {
			r.stopped = r.lastSaid(l)
		}
		return false
	case echoedLine:
		if r.open != nil && hasPrefix(l.text, "+") {
			// A line of a difference, more likely than a shell's trace.
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

// maxBegun bounds the steps with a kept beginning.
const maxBegun = 1000

// stepLine is a line of the log counted within its step; 0 when no step began before it.
func (r *logReader) stepLine(n int) int {
	i, found := slices.BinarySearch(r.begun, n)
	if !found {
		i--
	}
	if n == 0 || i < 0 {
		return 0
	}
	return n - r.begun[i] + 1
}

// beginStep begins a step if line l is what GitHub Actions prints under the heading that stands above it: the
// script, or the settings. A script may begin a group with the same word.
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
	r.settings, r.tidying = heading.n, false // the log may go on with another job
	if len(r.begun) < maxBegun {
		r.begun = append(r.begun, heading.n)
		if fetcher.MatchString(heading.text) {
			r.fetchers = append(r.fetchers, r.step)
		}
	}
}

// keepCommand keeps a line of the script that a step's settings show; it ends where
// the shell is named.
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

// endStep marks the blocks of the step that has failed.
func (r *logReader) endStep(e stepEnding) {
	r.close()
	r.lastError.line = 0
	for _, b := range r.kept {
		if b.step == e.step && !b.failed {
			b.failed, b.far = true, max(0, e.line-b.end-(r.traced-b.tracedBy))
		}
	}
	if len(r.ended) < maxEndings {
		r.ended = append(r.ended, e)
	}
}

// endByError marks the step as failed if an error is the last that it said. One that more output follows ended
// no step: matchers mark lines of tests that pass, and of what is tried again until it works.
func (r *logReader) endByError() {
	r.close()
	if r.lastError.line > 0 && !r.wentOn {
		r.endStep(r.lastError)
	}
}

// ending is a line that ends a step.
func (r *logReader) ending(l *line) stepEnding {
	return stepEnding{line: l.n, step: r.step, text: string(clipText(l.text)), actions: l.actions,
		script: slices.Clone(r.script)}
}

// markFailed takes a line with which the CI system says that the step has failed.
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

// takeBackFailure takes back that a step has failed, once the end of a long command says
// that it passed.
func (r *logReader) takeBackFailure() {
	if n := len(r.ended); n > 0 && r.ended[n-1].line == r.inCommand {
		r.ended = r.ended[:n-1]
	}
	for _, b := range r.kept {
		if b.step == r.step {
			b.failed = false
		}
	}
}

// noteExit notes the line that ends a failed step, and what its status says.
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

// keepStatus keeps what an exit status says: with what was said right above it, else by itself.
func (r *logReader) keepStatus(status *rule, l *line) {
	if status.class == ConfigError {
		if b := r.noteAbove(l, &endRule); b != nil {
			b.lift = status
			return
		}
	}
	r.keep(r.singleBlock(status, l))
}

// singleBlock is a block of one line.
func (r *logReader) singleBlock(ru *rule, l *line) *block {
	b := &block{rule: ru, start: l.n, head: l.n, test: -1, step: r.step}
	b.add(textLine{n: l.n, text: string(clipText(l.text))})
	return b
}
