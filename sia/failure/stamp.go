package failure

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
)

// stripStamp removes the prefix that logs put before each line: a byte order mark, job and step as gh prints them, and
// the time in the formats of GitHub Actions, Azure Pipelines, GitLab and Jenkins' timestamper.
func stripStamp(b []byte, l *line) []byte {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if s, ok := isoTime(b); ok {
		return s
	}
	// gh run view --log: job, tab, step, tab, time.
	if i := bytes.IndexByte(b, '\t'); i > 0 && i < 200 {
		if j := bytes.IndexByte(b[i+1:], '\t'); j > 0 && j < 200 {
			rest := bytes.TrimPrefix(b[i+j+2:], []byte("\xef\xbb\xbf"))
			if s, ok := isoTime(rest); ok {
				l.group = maphash.Bytes(groupSeed, b[:i+j+1])
				return s
			}
		}
	}
	if len(b) > 1 && b[0] == '[' {
		from := 1 // start of the time, after an optional word such as "task "
		for from < len(b) && (isLower(b[from]) || b[from] == ' ') {
			from++
		}
		if s, ok := isoTime(b[from:]); ok && len(s) > 0 && s[0] == ']' {
			return stripLevel(bytes.TrimPrefix(s[1:], []byte(" ")))
		}
		if len(b) > 10 && isClockTime(b[1:]) && b[9] == ']' {
			return bytes.TrimPrefix(b[10:], []byte(" "))
		}
		return b
	}
	return stripLevel(b)
}

// stripRelay removes the prefixes of programs that forward another program's output: the time in brackets, then the
// other program's name: "[2026-07-29 23:48:08] [build-stdout] ". There may be several such prefixes.
func stripRelay(b []byte) []byte {
	const date = len("[2026-07-29 ")
	for len(b) > date+10 && b[0] == '[' && b[5] == '-' && b[8] == '-' && allDigits(b[1:5]) && isClockTime(b[date:]) {
		end := bytes.Index(b[date:], []byte("] "))
		if end < 0 || end > len("23:48:08.1234567 +00:00") {
			break
		}
		b = b[date+end+2:]
		name := 1
		for name < len(b) && (isLower(b[name]) || b[name] == '-') {
			name++
		}
		if name > 1 && b[0] == '[' && name+1 < len(b) && b[name] == ']' && b[name+1] == ' ' {
			b = b[name+2:]
		}
	}
	return b
}

// stripLevel removes a clock time and a harmless log level after it, such as in "11:00:27 INFO - ". The level depends
// on the program that forwards the line.
func stripLevel(b []byte) []byte {
	if len(b) <= 8 || !isClockTime(b) || b[8] != ' ' {
		return b
	}
	b = bytes.TrimLeft(b[9:], " ")
	for _, level := range []string{"INFO", "DEBUG", "WARNING"} {
		if rest, ok := bytes.CutPrefix(b, []byte(level+" - ")); ok {
			return bytes.TrimPrefix(rest, []byte(" "))
		}
	}
	return b
}

// groupSeed makes group hashes comparable within one process.
var groupSeed = maphash.MakeSeed()

// isoTime strips an ISO 8601 time in UTC and the space after it:
// "2026-07-29T23:48:08.2790307Z ".
func isoTime(b []byte) ([]byte, bool) {
	const date = len("2026-07-29T")
	if len(b) < date+9 || b[4] != '-' || b[7] != '-' || b[10] != 'T' || !allDigits(b[:4]) || !isClockTime(b[date:]) {
		return b, false
	}
	i := date + 8
	if b[i] == '.' {
		for i++; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		}
	}
	if i >= len(b) || b[i] != 'Z' {
		return b, false
	}
	i++
	if i < len(b) && b[i] == ' ' {
		i++
	}
	return b[i:], true
}

// isClockTime reports whether b begins with hh:mm:ss.
func isClockTime(b []byte) bool {
	return len(b) >= 8 && b[2] == ':' && b[5] == ':' && allDigits(b[:2]) && allDigits(b[3:5]) && allDigits(b[6:8])
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// goJSON begins a line of go test -json (go doc test2json).
var goJSON = []byte(`{"`)

// unwrap replaces a test2json event by its output. Other JSON is left unchanged.
func (c *lineCleaner) unwrap(l *line) {
	if !bytes.Contains(l.text, []byte(`"Action":"`)) {
		return
	}
	var e struct{ Action, Output string }
	if json.Unmarshal(l.text, &e) != nil {
		return
	}
	switch e.Action {
	case "output", "build-output":
		c.plain(bytes.TrimRight([]byte(e.Output), "\n"), l)
		l.text = c.buf
	case "fail", "build-fail", "pass", "skip", "start", "run", "pause", "cont", "bench":
		l.text = nil
	}
}
