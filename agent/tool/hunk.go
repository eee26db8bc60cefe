package tool

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$`)

// recountHunks recomputes the line counts of hunks from their lines, because models
// count badly. Git's apply has --recount for this. It also takes a/ and b/ off the
// names of files without a line "diff --git": a parser can't know there that these
// are prefixes and not folders.
func recountHunks(text string) string {
	lines := strings.SplitAfter(text, "\n")
	words := nextWords(lines)
	var b strings.Builder
	git := false // within the head of a file in git's own form
	for i := 0; i < len(lines); i++ {
		switch {
		case strings.HasPrefix(lines[i], "diff --git "):
			git = true
		case !strings.HasPrefix(lines[i], "--- ") || i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "+++ "):
		case git:
			git = false
		default:
			if old, fresh, ok := plainNames(lines[i][len("--- "):], lines[i+1][len("+++ "):]); ok {
				lines[i], lines[i+1] = "--- "+old, "+++ "+fresh
			}
		}
		m := hunkHead.FindStringSubmatch(strings.TrimRight(lines[i], "\r\n"))
		if m == nil {
			b.WriteString(lines[i])
			continue
		}
		var body strings.Builder
		old, fresh := 0, 0
		for i+1 < len(lines) && inHunk(lines, words, i+1) {
			i++
			line := lines[i]
			if line == "\n" || line == "\r\n" { // an empty line of context that lost its space
				line = " " + line
			}
			switch line[0] {
			case ' ':
				old, fresh = old+1, fresh+1
			case '-':
				old++
			case '+':
				fresh++
			}
			body.WriteString(line)
		}
		fmt.Fprintf(&b, "@@ -%s,%d +%s,%d @@%s\n%s", m[1], old, m[2], fresh, m[3], body.String())
	}
	return b.String()
}

// plainNames takes the prefixes off two names, when each has its own or is /dev/null.
func plainNames(old, fresh string) (string, string, bool) {
	plain := func(name, prefix string) (string, bool) {
		if strings.HasPrefix(name, "/dev/null") {
			return name, true
		}
		return strings.CutPrefix(name, prefix)
	}
	o, okOld := plain(old, "a/")
	f, okFresh := plain(fresh, "b/")
	return o, f, okOld && okFresh
}

// isBlank reports whether a line is empty but for its end.
func isBlank(line string) bool { return line == "\n" || line == "\r\n" }

// nextWords is for each line the first from there on that is not blank.
func nextWords(lines []string) []int {
	next := make([]int, len(lines)+1)
	next[len(lines)] = len(lines)
	for i := len(lines) - 1; i >= 0; i-- {
		if next[i] = i; isBlank(lines[i]) {
			next[i] = next[i+1]
		}
	}
	return next
}

// inHunk reports whether a line goes on with the hunk before it. A blank one is context,
// unless nothing or another file follows.
func inHunk(lines []string, words []int, i int) bool {
	i = words[i]
	if i == len(lines) || lines[i] == "" {
		return false
	}
	line := lines[i]
	if strings.HasPrefix(line, "--- ") && i+2 < len(lines) && strings.HasPrefix(lines[i+1], "+++ ") &&
		strings.HasPrefix(lines[i+2], "@@ ") {
		return false
	}
	return strings.IndexByte(" +-\\", line[0]) >= 0
}

// maxHunks bounds the changes to one file in a patch: each is looked for in all of it.
const maxHunks = 1000

// applyHunks applies a file's hunks in order. The lines that a hunk expects must
// stand at its line number, or else at exactly one place after the hunk before it.
func applyHunks(text string, hunks []*gitdiff.TextFragment) (string, error) {
	if len(hunks) > maxHunks {
		return "", fmt.Errorf("a patch may change a file in %d places, and this changes %d; write the file anew", maxHunks,
			len(hunks))
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	crlf := strings.Contains(text, "\r\n")
	var out []string
	at := 0 // lines that are done
	for n, h := range hunks {
		var old, fresh []string
		for _, l := range h.Lines {
			line := l.Line
			if crlf && strings.HasSuffix(line, "\n") && !strings.HasSuffix(line, "\r\n") {
				line = strings.TrimSuffix(line, "\n") + "\r\n"
			}
			if l.Op != gitdiff.OpAdd {
				old = append(old, line)
			}
			if l.Op != gitdiff.OpDelete {
				fresh = append(fresh, line)
			}
		}
		where, err := placeHunk(text, lines, old, int(h.OldPosition), at)
		if err != nil {
			return "", fmt.Errorf("hunk %d: %w", n+1, err)
		}
		out = append(append(out, lines[at:where]...), fresh...)
		at = where + len(old)
	}
	out = append(out, lines[at:]...)
	for i, l := range out { // only the last line of a file may lack its end
		if i < len(out)-1 && !strings.HasSuffix(l, "\n") {
			out[i] += "\n"
		}
	}
	return strings.Join(out, ""), nil
}

// placeHunk is the index of the line of text at which a hunk that expects old applies.
func placeHunk(text string, lines, old []string, position, from int) (int, error) {
	if len(old) == 0 { // an insertion without context stands after the line it names
		if position < from || position > len(lines) {
			return 0, fmt.Errorf("it has no context, and the file has %d lines; add the lines before and after", len(lines))
		}
		return position, nil
	}
	if want := position - 1; want >= from && matchLines(lines, old, want) {
		return want, nil
	}
	found := findLines(text, lines, old, from)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return 0, fmt.Errorf("its lines do not stand in the file%s", nearestText(text, strings.Join(old, "")))
	}
	more := ""
	if len(found) == maxPlaces {
		more = " or more"
	}
	return 0, fmt.Errorf("its lines stand in %d places%s, the first at line %d; add more context", len(found), more,
		found[0]+1)
}

// maxPlaces bounds how many places are counted of what must stand in one.
const maxPlaces = 10

// findLines finds the first places at which old stands from a line on, in time that is
// linear in the text.
func findLines(text string, lines, old []string, from int) (found []int) {
	last := len(lines) - len(old) // the one place where the end of the last line does not count
	want := strings.Join(old, "")
	line, rest := from, text[len(strings.Join(lines[:from], "")):]
	for len(found) < maxPlaces && strings.HasSuffix(want, "\n") {
		i := 0
		if !strings.HasPrefix(rest, want) {
			if i = strings.Index(rest, "\n"+want); i < 0 {
				break
			}
			i++ // behind the end of the line before
		}
		if line += strings.Count(rest[:i], "\n"); line < last {
			found = append(found, line)
		}
		end := i + strings.IndexByte(rest[i:], '\n') + 1
		line, rest = line+1, rest[end:]
	}
	if last >= from && len(found) < maxPlaces && matchLines(lines, old, last) {
		found = append(found, last)
	}
	return found
}

// matchLines reports whether old stands at index i. The end of the file's last line
// does not count.
func matchLines(lines, old []string, i int) bool {
	if i+len(old) > len(lines) {
		return false
	}
	for j, l := range old {
		if have := lines[i+j]; have != l &&
			(i+j != len(lines)-1 || strings.TrimRight(have, "\r\n") != strings.TrimRight(l, "\r\n")) {
			return false
		}
	}
	return true
}
