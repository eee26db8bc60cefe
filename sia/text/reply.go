package text

import "strings"

// Reply returns the text that a person wrote in a comment, without leading quoted lines and without the additions of a
// mail program: "On … wrote:" with the quoted mail, a signature, and a forwarded mail. Quotes within the text stay.
// Lines end in newlines.
func Reply(comment string) string {
	lines := strings.Split(strings.ReplaceAll(comment, "\r\n", "\n"), "\n")
	var kept []string
	for i := 0; i < len(lines); {
		if lines[i] == "-- " || strings.HasPrefix(lines[i], "-----Original Message-----") {
			break
		}
		if n := mailed(lines[i:]); n > 0 {
			i += n
			continue
		}
		if len(kept) > 0 || !quotedOrBlank(lines[i]) {
			kept = append(kept, lines[i])
		}
		i++
	}
	return strings.Join(kept, "\n")
}

// mailed returns the number of lines of a quoted mail at the beginning of lines, including its heading of one or two
// lines; 0 if there is none.
func mailed(lines []string) int {
	n := 1
	if !strings.HasPrefix(lines[0], "On ") {
		return 0
	}
	if !endsHeading(lines[0]) {
		if n = 2; len(lines) < n || !endsHeading(lines[1]) {
			return 0
		}
	}
	heading := n
	for n < len(lines) && quotedOrBlank(lines[n]) {
		n++
	}
	if n < len(lines) && strings.TrimSpace(strings.Join(lines[heading:n], "")) == "" {
		return 0 // other text follows: it is a sentence
	}
	return n
}

func endsHeading(line string) bool { return strings.HasSuffix(strings.TrimSpace(line), "wrote:") }

func quotedOrBlank(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line[0] == '>'
}
