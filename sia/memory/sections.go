package memory

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

var (
	// schemaField matches the line with a Markdown file's schema version.
	schemaField = lazyregexp.New(`^- \*\*Schema:\*\* (\d+)$`)
	// conflictMark matches a conflict marker of git.
	conflictMark = lazyregexp.New(`^(<{7}|>{7}) `)
)

// foreignSections returns the second-level sections of a Markdown file that are not SIA's, in full. Users' changes in
// SIA's own sections are not kept.
//
// Errors are *[BrokenFile]. They mean that the file cannot be parsed, or that a later version of SIA wrote it, so that
// overwriting it could lose content.
func foreignSections(path string, file []byte) (string, error) {
	broken := func(line int, err error) (string, error) {
		return "", &BrokenFile{Path: path, Line: line, Err: err}
	}
	if len(file) > maxFile || !utf8.Valid(file) {
		return broken(0, fmt.Errorf("want UTF-8 text of at most %d bytes", maxFile))
	}
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(string(file), "\ufeff"), "\r\n", "\n"), "\n")
	own := []string{secDetails, secAttempts, secLearnings, secPrompts}
	section := "" // the second-level heading above the line; "" above the first
	var kept []string
	for i := 0; i < len(lines); {
		next := i + 1
		if level, title := headingOf(lines[i]); level == 1 {
			section = ""
		} else if level == 2 {
			section = title
		}
		ours := section == "" || slices.Contains(own, section)
		if conflictMark.MatchString(lines[i]) {
			return broken(i+1, errors.New("a merge conflict is left in the file; resolve it"))
		}
		if m := schemaField.FindStringSubmatch(lines[i]); m != nil && section == secDetails {
			if version, err := strconv.Atoi(m[1]); err != nil || version > SchemaVersion {
				return broken(i+1, fmt.Errorf("schema %s is newer than %d, the newest this SIA reads: update SIA", m[1],
					SchemaVersion))
			}
		}
		if fence := text.OpensFence(lines[i]); fence != "" {
			end, closed := fenceEnd(lines, i, fence)
			if !closed && ours {
				return broken(i+1, errors.New("a fenced text is not closed"))
			}
			next = end
		}
		if !ours {
			kept = append(kept, lines[i:next]...)
		}
		i = next
	}
	return strings.Trim(strings.Join(kept, "\n"), "\n"), nil
}

// headingOf parses a Markdown heading. The level is 0 for any other line.
func headingOf(line string) (level int, title string) {
	marks := len(line) - len(strings.TrimLeft(line, "#"))
	if marks < 1 || marks > 6 || !strings.HasPrefix(line[marks:], " ") {
		return 0, ""
	}
	return marks, strings.TrimSpace(line[marks:])
}

// fenceEnd returns the index after the code fence that opens on line i. An unclosed fence ends with the file.
func fenceEnd(lines []string, i int, fence string) (next int, closed bool) {
	for j := i + 1; j < len(lines); j++ {
		if text.ClosesFence(lines[j], fence) {
			return j + 1, true
		}
	}
	return len(lines), false
}
