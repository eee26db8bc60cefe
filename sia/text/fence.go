package text

import "strings"

// OpensFence is the run of backticks or tildes that opens a block of code on a line, however far it is indented
// (CommonMark §4.5); empty for none.
func OpensFence(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		if n >= 3 && (c == "~" || !strings.Contains(line[n:], c)) { // more backticks: code within a line
			return line[:n]
		}
	}
	return ""
}

// ClosesFence reports whether a line ends the block of code that a fence opened.
func ClosesFence(line, fence string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// IsIndentedCode reports whether a line is so far indented that it is code where it begins a text or follows an empty
// line (CommonMark §4.4).
func IsIndentedCode(line string) bool {
	code := strings.TrimLeft(line, " ")
	return len(line)-len(code) >= 4 || strings.HasPrefix(code, "\t")
}
