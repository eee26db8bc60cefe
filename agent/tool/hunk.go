package tool

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$`)

// noLine is the line number of a hunk that has none: no file that may be patched has so many lines.
const noLine = "9999999"

// parseHead parses a hunk's header: the line numbers on the old and the new side, and the text after them; ok is false
// if line is no header.
func parseHead(line string) (old, fresh, rest string, ok bool) {
	line = strings.TrimRight(line, "\r\n")
	if m := hunkHead.FindStringSubmatch(line); m != nil {
		return m[1], m[2], m[3], true
	}
	return noLine, "1", "", strings.HasPrefix(line, "@@") && !strings.HasPrefix(line, "@@@") // @@@: of a merge
}

func isHead(line string) bool {
	_, _, _, ok := parseHead(line)
	return ok
}

// recountHunks recomputes the line counts of hunks from their lines, because models miscount; git apply has --recount
// for this. It also removes a/ and b/ from file names without a "diff --git" line, since the parser would take them for
// folders there. A hunk must be followed by another hunk, another file or the end: otherwise a line without a mark
// would silently drop the changes after it.
func recountHunks(text string) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	words := nextNonBlank(lines)
	var b strings.Builder
	git := false // in the header of a file in git's form
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
		atOld, atFresh, rest, ok := parseHead(lines[i])
		if !ok {
			b.WriteString(lines[i])
			continue
		}
		var body strings.Builder
		old, fresh := 0, 0
		for i+1 < len(lines) && inHunk(lines, words, i+1) {
			i++
			line := lines[i]
			if line == "\n" || line == "\r\n" { // an empty context line without its space
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
			i = next - 1 // OpenAI's form has two headers for a class and its method
			continue
		}
		fmt.Fprintf(&b, "@@ -%s,%d +%s,%d @@%s\n%s", atOld, old, atFresh, fresh, rest, body.String())
		if !mayFollow(lines, words, i+1) {
			return "", fmt.Errorf("the line %s follows a hunk, and is neither part of it nor the beginning of another: each "+
				"line of a hunk begins with a space, + or -", quotedLine(lines[words[i+1]]))
		}
		i = words[i+1] - 1 // blank lines between hunks would end the file
	}
	return b.String(), nil
}

// mayFollow reports whether the first line from i on that is not blank may follow a hunk or a file's header: another
// hunk, another file, or the end, possibly of a code fence.
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

// quotedLine quotes a line for a message.
func quotedLine(line string) string { return quotePath(strings.TrimRight(line, "\r\n")) }

// devNull is the name of the missing file if a file is created or deleted.
const devNull = "/dev/null"

// nameOf returns the name in a line of a file's header, without a time stamp.
func nameOf(rest string) string {
	name, _, _ := strings.Cut(strings.TrimRight(rest, "\r\n"), "\t")
	return name
}

// plainNames removes the prefixes of two names, if each has its own or is /dev/null.
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

// isBlank reports whether a line consists only of its end.
func isBlank(line string) bool { return line == "\n" || line == "\r\n" }

// nextNonBlank returns, for each line, the index of the next line that is not blank.
func nextNonBlank(lines []string) []int {
	next := make([]int, len(lines)+1)
	next[len(lines)] = len(lines)
	for i := len(lines) - 1; i >= 0; i-- {
		if next[i] = i; isBlank(lines[i]) {
			next[i] = next[i+1]
		}
	}
	return next
}

// inHunk reports whether a line belongs to the hunk before it. A blank line is context, unless the end or another file
// follows.
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

// maxHunks is the maximum number of hunks for one file: each is searched for in the whole file.
const maxHunks = 1000

// applyHunks applies a file's hunks in order. The lines that a hunk expects must be at its line number, or else at
// exactly one place after the previous hunk. Line ends are ignored, since the model does not see them: unchanged lines
// keep their ends, and added lines get the most frequent one.
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
	restore := hiddenRestorer(text)
	at := 0 // number of processed lines
	for n, h := range hunks {
		var old []string
		for _, l := range h.Lines {
			if l.Op != gitdiff.OpAdd {
				old = append(old, restore(strings.ReplaceAll(l.Line, "\r\n", "\n")))
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
				out = append(out, withLineEnd(end, restore(l.Line)))
			case gitdiff.OpContext:
				out = append(out, lines[at])
				at++
			case gitdiff.OpDelete:
				at++
			}
		}
		added := h.Lines[len(h.Lines)-1].Op == gitdiff.OpAdd
		if added && at == len(lines) && len(old) > 0 && isEnded(old[len(old)-1]) != isEnded(lines[at-1]) {
			// The model does not see whether the file's last line has an end, so that is unchanged.
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

// splitEnds splits a text into lines, including their ends.
func splitEnds(text string) []string {
	return slices.Collect(strings.Lines(text))
}

func isEnded(line string) bool { return strings.HasSuffix(line, "\n") }

// withLineEnd replaces the newline of a line by end. Other line ends are unchanged.
func withLineEnd(end, line string) string {
	if isEnded(line) && !strings.HasSuffix(line, "\r\n") {
		return strings.TrimSuffix(line, "\n") + end
	}
	return line
}

// placeHunk returns the index of the line in text at which a hunk that expects old applies.
func placeHunk(text string, lines, old []string, position, from int) (int, error) {
	if len(old) == 0 && len(lines) > 0 { // an insertion without context goes after its line number
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

// maxPlaces is the maximum number of matches that are counted.
const maxPlaces = 10

// findLines returns the first matches of old from a line on, in time linear in the text.
func findLines(text string, lines, old []string, from int) (found []int) {
	last := len(lines) - len(old) // the only match in which the end of the last line is ignored
	want := strings.Join(old, "")
	line, rest := from, text[len(strings.Join(lines[:from], "")):]
	for len(found) < maxPlaces && strings.HasSuffix(want, "\n") {
		i := 0
		if !strings.HasPrefix(rest, want) {
			if i = strings.Index(rest, "\n"+want); i < 0 {
				break
			}
			i++ // skip the end of the previous line
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

// matchLines reports whether old matches at index i. The end of the file's last line is ignored.
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
