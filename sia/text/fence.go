package text

import "strings"

// OpensFence returns the run of backticks or tildes with which a line opens a code block, with any indentation
// (CommonMark §4.5); empty if it opens none.
func OpensFence(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		if n >= 3 && (c == "~" || !strings.Contains(line[n:], c)) { // more backticks: a code span
			return line[:n]
		}
	}
	return ""
}

// ClosesFence reports whether a line closes the code block that a fence opened.
func ClosesFence(line, fence string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// IsIndentedCode reports whether a line is indented as code, if it begins a text or follows an empty line
// (CommonMark §4.4).
func IsIndentedCode(line string) bool {
	code := strings.TrimLeft(line, " ")
	return len(line)-len(code) >= 4 || strings.HasPrefix(code, "\t")
}
