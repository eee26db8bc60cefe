package text

import "strings"

// Reply is what a person wrote into a comment: without the lines that are quoted before it, and without what a mail
// program adds to an answer, which are "On … wrote:" with the mail that it quotes, a signature, and a mail that is
// forwarded. Quotes among the words stay. Lines end in newlines.
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

// mailed counts the lines of a quoted mail that lines begin with, and of its heading, which has one or two; 0 when they
// begin with none.
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
		return 0 // words follow: it is a sentence
	}
	return n
}

func endsHeading(line string) bool { return strings.HasSuffix(strings.TrimSpace(line), "wrote:") }

func quotedOrBlank(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line[0] == '>'
}
