package render

import "strings"

// How many words a comment shows at most before anything is unfolded. Whatever people,
// models and logs wrote, it is cut to that, and stands in full in a fold of the same page.
const (
	maxDiagnosis = 60
	maxStatus    = 90
	maxQuestion  = 120
)

// words is how many words a text of ours has, or a few more: also what is only a sign
// counts as one.
func words(s string) int { return len(strings.Fields(s)) }

// few is foreign text on one line of at most so many words, and of at most eight times as
// many characters, neutralised.
func few(foreign string, words int) string { return Line(fewWords(foreign, words), 8*words) }

// fewCode is the same as code within a line.
func fewCode(foreign string, words int) string { return Code(fewWords(foreign, words), 8*words) }

func fewWords(foreign string, words int) string {
	all := strings.Fields(oneLine(foreign))
	if len(all) <= words {
		return strings.Join(all, " ")
	}
	return strings.Join(all[:max(0, words)], " ") + "…"
}

// fits reports whether few leaves a text whole.
func fits(foreign string, words int) bool {
	return fewWords(foreign, words) == oneLine(foreign) && cut(oneLine(foreign), 8*words) == oneLine(foreign)
}
