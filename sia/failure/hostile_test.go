package failure

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
)

// repeated is a reader that repeats a piece of text. It holds only that piece.
type repeated struct {
	piece []byte
	at    int
	left  int
}

func repeat(piece string, size int) io.Reader { return &repeated{piece: []byte(piece), left: size} }

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.left)], r.piece[r.at:])
	r.at = (r.at + n) % len(r.piece)
	r.left -= n
	return n, nil
}

// hostile are pieces of logs that an attacker could write to overload the reader.
var hostile = map[string]string{
	"one endless line":       "x",
	"one endless error":      "error: failed ",
	"endless parts":          "error: failed\r",
	"NULs":                   "\x00",
	"blank lines":            "\n",
	"groups":                 "##[group]Run a\n",
	"errors of the system":   "##[error]boom\n",
	"failed steps":           "##[error]Process completed with exit code 1.\n",
	"unended commands":       "\x1b[31mThe command \"\n",
	"escape sequences":       "\x1b[31;1m\x1b[0K\x1b]8;;http://x\x07",
	"an endless escape":      "\x1b[1;",
	"failed tests":           "--- FAIL: TestA (0.00s)\n    a_test.go:1: no\n",
	"different failed tests": "______ test_a ______\n\nE   boom\n",
	"tracebacks":             "Traceback (most recent call last):\n  File \"a\", line 1, in b\nKeyError: 'x'\n",
	"every keyword": "error: fatal: failed exception panic: denied ENOTFOUND timed out .go:1: .java:[1,2] <<< " +
		"FAILURE! error TS1: [ERROR] ● 1) \n",
	"invalid UTF-8": "\xff\xfe error: \xc3\x28\n",
	"JSON":          "{\"Action\":\"output\",\"Output\":\"--- FAIL: TestA (0.00s)\\n\"}\n",
	"headings":      "Failures:\n  1) a\n",
}

// Memory use is bounded for any log.
//
//test:thorough
func TestHostileLogs(t *testing.T) {
	const size, limit = 192 << 10, 3 << 20
	for name, piece := range hostile {
		t.Run(name, func(t *testing.T) {
			rd := newLogReader()
			lines := newLineReader(repeat(piece, size))
			before := heap()
			for {
				raw, n, err := lines.next()
				if err != nil {
					break
				}
				rd.take(raw, n)
			}
			rd.close()
			if grown := heap() - before; grown > limit {
				t.Errorf("%d KiB remembered of %d", grown>>10, size>>10)
			}
			checkBounds(t, rd)
			checkReport(t, rd.report(Options{}), rd.total)
		})
	}
}

// checkBounds checks the bounds of what a reader remembers.
func checkBounds(t *testing.T, rd *logReader) {
	t.Helper()
	if len(rd.kept) > maxKept || len(rd.tests) > MaxTests || len(rd.seen) > 2*MaxTests || len(rd.ended) > maxEndings ||
		len(rd.script) > maxAbove {
		t.Errorf("%d blocks, %d tests, %d names, %d endings, %d lines of script", len(rd.kept), len(rd.tests), len(rd.seen),
			len(rd.ended), len(rd.script))
	}
	for _, b := range rd.kept {
		if n := len(b.lines()) + len(b.waiting) + len(b.peaks); n > keepHead+keepTail+maxWait+keepPeaks+2 {
			t.Errorf("a block of %d lines is kept with %d", b.size(), n)
		}
		for _, l := range b.lines() {
			if len(l.text) > keepText {
				t.Errorf("a line of %d bytes is kept", len(l.text))
			}
		}
	}
}

// heap returns the size of the heap in use.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// checkReport checks invariants of the report of a log of total lines.
func checkReport(t *testing.T, rep Report, total int) {
	t.Helper()
	last, lines := 0, 0
	for _, s := range rep.Excerpt {
		if s.Start <= last || s.End < s.Start || s.End > total {
			t.Fatalf("spans %v of a log of %d lines", rep.Excerpt, total)
		}
		last = s.End
		lines += s.End - s.Start + 1
	}
	if lines > 400 {
		t.Errorf("excerpt of %d lines", lines)
	}
	if n := strings.Count(rep.Text, "\n") + 1; n > DefaultMaxLines || len(rep.Text) > DefaultMaxLines*(keepText+1) {
		t.Errorf("text of %d lines, %d bytes", n, len(rep.Text))
	}
	if strings.ContainsAny(rep.Text, "\x00\x1b\r\u202e\u200b") ||
		!bytes.Equal(bytes.ToValidUTF8([]byte(rep.Text), nil), []byte(rep.Text)) {
		t.Errorf("text is not printable: %q", rep.Text)
	}
	if (rep.Signature == "") != (rep.Text == "") || rep.Class == "" || len(rep.Tests) > MaxTests {
		t.Errorf("%+v", rep)
	}
}

func FuzzRead(f *testing.F) {
	for _, piece := range hostile {
		f.Add(piece+piece, "")
	}
	f.Add("a\n##[error]b", "a\n")
	f.Add("<testsuite><testcase name='a'><failure/></testcase>", "")
	f.Fuzz(func(t *testing.T, log, green string) {
		rep, err := Read(t.Context(), strings.NewReader(log), Options{Green: strings.NewReader(green)})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Signature == "" && rep.Text != "" {
			return // a text of masked white space alone
		}
		again, _ := Read(t.Context(), strings.NewReader(log), Options{Green: strings.NewReader(green)})
		if again.Signature != rep.Signature || again.Text != rep.Text {
			t.Errorf("two readings of one log differ: %+v, %+v", rep, again)
		}
		checkReport(t, rep, strings.Count(log, "\n")+1)
	})
}

// Invisible characters of a log are in no excerpt.
func TestUnseenIsLeftOut(t *testing.T) {
	rep := read(t, "go test ./...\npanic: no\U000e0130 such\u3164 file \u2714\ufe0f\n", Options{})
	if want := "panic: no such file \u2714\ufe0f"; rep.Text != want {
		t.Errorf("%q, want %q", rep.Text, want)
	}
}
