package tool

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$`)

// nowhere is the line of a hunk that names none: no file that may be patched has so many.
const nowhere = "9999999"

// headOf are the line of a hunk's head on the old side and on the new one, and what stands behind them; ok is false
// where line is no such head.
func headOf(line string) (old, fresh, rest string, ok bool) {
	line = strings.TrimRight(line, "\r\n")
	if m := hunkHead.FindStringSubmatch(line); m != nil {
		return m[1], m[2], m[3], true
	}
	return nowhere, "1", "", strings.HasPrefix(line, "@@") && !strings.HasPrefix(line, "@@@") // of a merge
}

func isHead(line string) bool {
	_, _, _, ok := headOf(line)
	return ok
}

// recountHunks recomputes the line counts of hunks from their lines, because models
// count badly. Git's apply has --recount for this. It also takes a/ and b/ off the
// names of files without a line "diff --git": a parser can't know there that these
// are prefixes and not folders. A hunk ends only before another hunk, another file or the
// end: a line that lost its mark would leave out the changes behind it.
func recountHunks(text string) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	words := nextWords(lines)
	var b strings.Builder
	git := false // within the head of a file in git's own form
	for i := 0; i < len(lines); i++ {
		switch {
		case strings.HasPrefix(lines[i], "diff --git "):
			git = true
		case !strings.HasPrefix(lines[i], "--- ") || i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "+++ "):
		case !mayFollow(lines, words, i+2):
			return "", fmt.Errorf("the line %s follows the head of a file, and begins no hunk: hunks begin with @@",
				quotedLine(lines[words[i+2]]))
		case git:
			git = false
		default:
			old, fresh, ok := plainNames(lines[i][len("--- "):], lines[i+1][len("+++ "):])
			if !ok {
				break
			}
			if nameOf(old) != nameOf(fresh) && nameOf(old) != devNull && nameOf(fresh) != devNull {
				return "", fmt.Errorf("the patch names two files, %s and %s; to rename a file, begin with the lines "+
					"diff --git a/old b/new, rename from old, and rename to new", quotePath(nameOf(old)), quotePath(nameOf(fresh)))
			}
			lines[i], lines[i+1] = "--- "+old, "+++ "+fresh
		}
		atOld, atFresh, rest, ok := headOf(lines[i])
		if !ok {
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
		if next := words[i+1]; next < len(lines) && body.Len() == 0 && isHead(lines[next]) {
			i = next - 1 // OpenAI's form names a class and its method in two heads
			continue
		}
		fmt.Fprintf(&b, "@@ -%s,%d +%s,%d @@%s\n%s", atOld, old, atFresh, fresh, rest, body.String())
		if !mayFollow(lines, words, i+1) {
			return "", fmt.Errorf("the line %s follows a hunk, and is neither part of it nor the beginning of another: each "+
				"line of a hunk begins with a space, + or -", quotedLine(lines[words[i+1]]))
		}
		i = words[i+1] - 1 // what is blank between two hunks would end their file
	}
	return b.String(), nil
}

// mayFollow reports whether the first line from i on that is not blank may stand behind a hunk, or behind the head of a
// file: another hunk, another file, or the end, perhaps that of a code fence.
func mayFollow(lines []string, words []int, i int) bool {
	at := words[i]
	if at == len(lines) || lines[at] == "" {
		return true
	}
	for _, begins := range []string{"diff -", "--- ", "Index: "} {
		if strings.HasPrefix(lines[at], begins) {
			return true
		}
	}
	return isHead(lines[at]) || strings.HasPrefix(lines[at], "```") && mayFollow(lines, words, at+1)
}

// quotedLine shows a line within a message.
func quotedLine(line string) string { return quotePath(strings.TrimRight(line, "\r\n")) }

// devNull stands for the file that there is not, of one that is created or deleted.
const devNull = "/dev/null"

// nameOf is the name in a line of a file's head, behind which a time may stand.
func nameOf(rest string) string {
	name, _, _ := strings.Cut(strings.TrimRight(rest, "\r\n"), "\t")
	return name
}

// plainNames takes the prefixes off two names, when each has its own or is /dev/null.
func plainNames(old, fresh string) (string, string, bool) {
	plain := func(name, prefix string) (string, bool) {
		if strings.HasPrefix(name, devNull) {
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
		strings.HasPrefix(lines[i+2], "@@") {
		return false
	}
	return strings.IndexByte(" +-\\", line[0]) >= 0
}

// maxHunks bounds the changes to one file in a patch: each is looked for in all of it.
const maxHunks = 1000

// applyHunks applies a file's hunks in order. The lines that a hunk expects must
// stand at its line number, or else at exactly one place after the hunk before it. How lines
// end does not count: a model is not shown it. Lines that stay keep their ends, those that are
// added have the end that most lines have.
func applyHunks(text string, hunks []*gitdiff.TextFragment) (string, error) {
	if len(hunks) > maxHunks {
		return "", fmt.Errorf("a patch may change a file in %d places, and this changes %d; write the file anew", maxHunks,
			len(hunks))
	}
	lines, plain := splitEnds(text), strings.ReplaceAll(text, "\r\n", "\n")
	bare, end := splitEnds(plain), "\n"
	if 2*strings.Count(text, "\r\n") > strings.Count(text, "\n") {
		end = "\r\n"
	}
	var out []string
	meant := unhidden(text)
	at := 0 // lines that are done
	for n, h := range hunks {
		var old []string
		for _, l := range h.Lines {
			if l.Op != gitdiff.OpAdd {
				old = append(old, meant(strings.ReplaceAll(l.Line, "\r\n", "\n")))
			}
		}
		where, err := placeHunk(plain, bare, old, int(h.OldPosition), at)
		if err != nil {
			return "", fmt.Errorf("hunk %d: %w", n+1, err)
		}
		out, at = append(out, lines[at:where]...), where
		for _, l := range h.Lines {
			switch l.Op {
			case gitdiff.OpAdd:
				out = append(out, endedBy(end, meant(l.Line)))
			case gitdiff.OpContext:
				out = append(out, lines[at])
				at++
			case gitdiff.OpDelete:
				at++
			}
		}
		added := h.Lines[len(h.Lines)-1].Op == gitdiff.OpAdd
		if added && at == len(lines) && len(old) > 0 && isEnded(old[len(old)-1]) != isEnded(lines[at-1]) {
			// The patch does not know whether the file's last line ends, so that stays as it was.
			last := &out[len(out)-1]
			if *last = strings.TrimSuffix(strings.TrimSuffix(*last, "\n"), "\r"); isEnded(lines[at-1]) {
				*last += end
			}
		}
	}
	out = append(out, lines[at:]...)
	for i, l := range out { // only the last line of a file may lack its end
		if i < len(out)-1 && !isEnded(l) {
			out[i] += end
		}
	}
	return strings.Join(out, ""), nil
}

// splitEnds are the lines of a text with their ends, which the last may lack.
func splitEnds(text string) []string {
	return slices.Collect(strings.Lines(text))
}

func isEnded(line string) bool { return strings.HasSuffix(line, "\n") }

// endedBy is a line with another end, if it has one that is a newline alone.
func endedBy(end, line string) string {
	if isEnded(line) && !strings.HasSuffix(line, "\r\n") {
		return strings.TrimSuffix(line, "\n") + end
	}
	return line
}

// placeHunk is the index of the line of text at which a hunk that expects old applies.
func placeHunk(text string, lines, old []string, position, from int) (int, error) {
	if len(old) == 0 && len(lines) > 0 { // an insertion without context stands after the line it names
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
