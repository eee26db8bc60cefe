package render_test

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	foldEdge    = regexp.MustCompile(`</?details>`)
	codeBlock   = regexp.MustCompile("(?s)\n(```+|~~~+).*?\n(```+|~~~+)\n")
	htmlPart    = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`)
	codeSpan    = regexp.MustCompile("`+[^`]*`+")
	linkTarget  = regexp.MustCompile(`\]\([^)]*\)`)
	aWord       = regexp.MustCompile(`[\p{L}\p{N}][\p{L}\p{N}'’.-]*`)
	sentenceEnd = regexp.MustCompile(`[.!?][*_)]*(\s|$)`)
	vowels      = regexp.MustCompile(`[aeiouy]+`)
)

// seenAtOnce is the visible part of a comment before anything is unfolded, logs included: nested folds are folded, and
// text between two folds is not.
func seenAtOnce(comment string) string {
	var s strings.Builder
	for depth := 0; comment != ""; {
		at := foldEdge.FindStringIndex(comment)
		if at == nil {
			at = []int{len(comment), len(comment)}
		}
		if depth == 0 {
			s.WriteString(comment[:at[0]])
		}
		switch edge := comment[at[0]:at[1]]; {
		case strings.HasPrefix(edge, "</"):
			depth--
		case edge != "":
			depth++
		}
		comment = comment[at[1]:]
	}
	return linkTarget.ReplaceAllString(htmlPart.ReplaceAllString(s.String(), ""), "]")
}

// prose is a text without logs: SIA's words, and short foreign text.
func prose(seen string) string { return codeBlock.ReplaceAllString("\n"+seen+"\n", "\n") }

var reviewSection = regexp.MustCompile(`(?m)^=== .* ===$`)

// comments splits a golden file into the comments that people see as one: a review's body with its lines, or the body
// for a review without lines.
func comments(golden string) []string {
	parts := reviewSection.Split(golden, -1)
	if len(parts) == 1 {
		return parts
	}
	return []string{parts[0] + strings.Join(parts[2:], "\n"), parts[1]}
}

// sentences are those of a text's prose: pieces of four words or more between full stops and line ends. Headings, table
// cells and labels of that length count, too.
func sentences(s string) (all []string) {
	s = codeSpan.ReplaceAllString(s, "code")
	for _, line := range strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '|' }) {
		for _, piece := range sentenceEnd.Split(line, -1) {
			if len(aWord.FindAllString(piece, -1)) >= 4 {
				all = append(all, piece)
			}
		}
	}
	return all
}

// grade is the Flesch–Kincaid grade of prose: 0.39 words a sentence + 11.8 syllables a word − 15.59 (Kincaid,
// Fishburne, Rogers and Chissom 1975). Inline code counts as a word of one syllable. Syllables are groups of vowels,
// without a final e.
func grade(all []string) float64 {
	if len(all) == 0 {
		return 0
	}
	words, syllables := 0, 0
	for _, sentence := range all {
		for _, w := range aWord.FindAllString(sentence, -1) {
			w = strings.ToLower(w)
			n := len(vowels.FindAllString(w, -1))
			if strings.HasSuffix(w, "e") && !strings.HasSuffix(w, "le") && n > 1 {
				n--
			}
			words, syllables = words+1, syllables+max(1, n)
		}
	}
	return .39*float64(words)/float64(len(all)) + 11.8*float64(syllables)/float64(words) - 15.59
}

// TestSeenAtOnce: folded text is not counted, and text after a fold is.
func TestSeenAtOnce(t *testing.T) {
	got := seenAtOnce("one\n<details><summary>two</summary>three <details>four</details> five</details>\n" +
		"six [seven](https://x)")
	if want := "one\n\nsix [seven]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The visible text is short and plain: every golden comment keeps to its number of words and to grade 9. -v prints the
// figures.
func TestCommentsAreShortAndPlain(t *testing.T) {
	for _, c := range []struct {
		kind  string
		most  int // words of each; 0: no bound
		files string
	}{
		{"status", 90, "status/*.md"}, {"diagnosis", 60, "intervention/*.md"}, {"question", 120, "escalation/*.md"},
		{"review", 80, "finalreview/*.md"}, {"pull request", 0, "pull/*.md"}, {"reply", 0, "reply/*.md"},
	} {
		files, err := filepath.Glob(filepath.Join("testdata", c.files))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %d files", c.files, err, len(files))
		}
		var all []string
		hardest, most := "", 0.
		count := map[string]int{}
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, comment := range comments(string(b)) {
				seen := seenAtOnce(comment)
				said := sentences(prose(seen))
				all = append(all, said...)
				count[filepath.Base(name)] = max(count[filepath.Base(name)], len(aWord.FindAllString(seen, -1)))
				g := grade(said)
				if g > most {
					hardest, most = filepath.Base(name), g
				}
				if g > 9 {
					t.Errorf("%s: grade %.1f; shorter sentences and words would do", name, g)
				}
			}
			if n := count[filepath.Base(name)]; c.most > 0 && n > c.most {
				t.Errorf("%s: people see %d words at once, and should see %d at most", name, n, c.most)
			}
		}
		longest := slices.MaxFunc(slices.Collect(maps.Keys(count)), func(a, b string) int {
			return cmp.Compare(count[a], count[b])
		})
		t.Logf("%s: %d comments, longest %d words (%s), grade %.1f, hardest %.1f (%s)", c.kind, len(files), count[longest],
			longest, grade(all), most, hardest)
	}
}
