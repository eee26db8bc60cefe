package render

import "strings"

// The most words that a comment shows before anything is unfolded. Longer text of people, models and logs is cut, and
// shown in full in a fold of the same page.
const (
	maxDiagnosis = 60
	maxStatus    = 90
	maxQuestion  = 120
)

// words counts the words of a text of ours, or a few more: a lone sign counts as one.
func words(s string) int { return len(strings.Fields(s)) }

// few returns foreign text on one line, cut to the given number of words and eight times as many characters,
// neutralised.
func few(foreign string, words int) string { return Line(fewWords(foreign, words), 8*words) }

// fewCode is few as inline code.
func fewCode(foreign string, words int) string { return Code(fewWords(foreign, words), 8*words) }

func fewWords(foreign string, words int) string {
	all := strings.Fields(oneLine(foreign))
	if len(all) <= words {
		return strings.Join(all, " ")
	}
	return strings.Join(all[:max(0, words)], " ") + "…"
}

// fits reports whether few leaves a text unshortened.
func fits(foreign string, words int) bool {
	return fewWords(foreign, words) == oneLine(foreign) && cut(oneLine(foreign), 8*words) == oneLine(foreign)
}
