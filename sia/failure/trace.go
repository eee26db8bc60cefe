package failure

import (
	"bytes"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// maxMessage is the maximum number of lines of an exception's message before its first stack frame.
const maxMessage = 12

// stackTrace continues over the message and stack frames of an exception.
func stackTrace(b *block, l *line) placement {
	t := bytes.TrimLeft(l.text, " \t")
	switch {
	case l.blank():
		return maybeInside
	case isStackFrame(t):
		b.frames++
		return insideBlock
	case isCauseLine(t):
		b.frames = 0
		b.message = 0
		return insideBlock
	case l.indent > b.indent:
		return insideBlock
	case b.blankBefore:
		return outsideBlock
	case b.frames == 0 && b.message < maxMessage:
		b.message++
		return insideBlock
	default:
		return outsideBlock
	}
}

// traceOnly continues over the stack frames right under a line, but not over a message.
func traceOnly(b *block, l *line) placement {
	if t := bytes.TrimLeft(l.text, " \t"); !l.blank() && (isStackFrame(t) || isCauseLine(t)) {
		return insideBlock
	}
	return outsideBlock
}

// pytestFrame is a stack frame as pytest prints it: "shop/cart.py:12: in total".
var pytestFrame = lazyregexp.New(`^\S[^:]*:\d+: in \S+$`)

// isStackFrame reports whether a line is a stack frame of Java, JavaScript, Python, Ruby, PHP, Go, C++, .NET, Swift,
// Perl and pytest, without the white space before it.
func isStackFrame(t []byte) bool {
	switch {
	case bytes.HasPrefix(t, []byte("at ")), bytes.HasPrefix(t, []byte("File \"")), bytes.HasPrefix(t, []byte("from ")),
		bytes.HasPrefix(t, []byte("... ")) && bytes.HasSuffix(t, []byte(" more")),
		bytes.HasPrefix(t, []byte("[bt] ")), bytes.Contains(t, []byte(":in `")), bytes.Contains(t, []byte(":in '")),
		bytes.HasPrefix(t, []byte("called from ")):
		return true
	case bytes.Contains(t, []byte(": in ")) && pytestFrame.Match(t):
		return true
	case len(t) > 2 && t[0] == '#' && t[1] >= '0' && t[1] <= '9':
		return true
	}
	return false
}

// isCauseLine reports whether a line links one exception to another.
func isCauseLine(t []byte) bool {
	for _, p := range []string{"Caused by", "Suppressed:", "During handling of", "The above exception was", "Caused: ",
		"Also: ", "Command Close created at", "Nested ", "Traceback", "Current thread", "Thread 0x",
		"Backtrace", "stack backtrace", "goroutine ", "Extension modules"} {
		if bytes.HasPrefix(t, []byte(p)) {
			return true
		}
	}
	return false
}

// pythonTrace continues over a Python traceback to the line of the exception.
func pythonTrace(b *block, l *line) placement {
	switch {
	case l.blank():
		return maybeInside
	case isCauseLine(bytes.TrimLeft(l.text, " \t")):
		b.message = 0
		return insideBlock
	case l.indent > b.indent:
		return insideBlock
	case b.message == 0 && !b.blankBefore:
		b.message++
		return insideBlock
	default:
		return outsideBlock
	}
}

// quotesCode reports whether a line, without leading white space, is a stack frame of JavaScript or Java, or code shown
// with its line number: "> 12 | fail(err)". Its words are names in code, not events.
func quotesCode(t []byte) bool {
	if hasPrefix(t, "at ") {
		return t[len(t)-1] == ')'
	}
	t = bytes.TrimLeft(bytes.TrimPrefix(t, []byte(">")), " ")
	digits := 0
	for digits < len(t) && t[digits] >= '0' && t[digits] <= '9' {
		digits++
	}
	t = bytes.TrimLeft(t[digits:], " ")
	return digits > 0 && (hasPrefix(t, "|") || hasPrefix(t, boxSide))
}
