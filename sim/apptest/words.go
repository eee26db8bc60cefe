package apptest

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// WordLimits are the most words that a comment, or an issue that asks, shows before anything is unfolded, by the kind
// in its marker.
var WordLimits = map[string]int{
	string(sia.DoAnnounce): 60,
	"status":               90,
	string(sia.DoEscalate): 120,

	string(sia.DoFinalReview): 80,
	OnLine:                    40,
}

// OnLine is the kind of comments on a line of a pull request's diff.
const OnLine = "on a line"

// Post is one version of a comment of the application, or of an issue that it opened.
type Post struct {
	Kind string // from its marker; "" without one
	Body string
}

// Posts are all versions of everything that the application posted as a comment or an issue, in order, from GitHub's
// events.
func (s *Stage) Posts() []Post {
	s.t.Helper()
	var all []Post
	for _, d := range s.Sim.Deliveries() {
		text, ok := posted[d.Event+"."+d.Action]
		if !ok || d.Redelivery {
			continue
		}
		var p struct {
			Issue, Comment, Review struct{ Body string }
			Sender                 struct{ Login string }
		}
		s.must(json.Unmarshal(d.Payload, &p))
		if p.Sender.Login != Bot {
			continue
		}
		body := map[string]string{"issue": p.Issue.Body, "comment": p.Comment.Body, "review": p.Review.Body}[text]
		m, _ := render.ParseMarker(body)
		if d.Event == "pull_request_review_comment" {
			m.Kind = OnLine
		}
		all = append(all, Post{Kind: m.Kind, Body: body})
	}
	return all
}

// posted maps each event with a new text to the field of its payload with the text.
var posted = map[string]string{
	"issue_comment.created": "comment", "issue_comment.edited": "comment",
	"issues.opened": "issue", "issues.edited": "issue",
	"pull_request_review.submitted": "review", "pull_request_review.edited": "review",
	"pull_request_review_comment.created": "comment",
}

// checkWordLimits fails the test if a post shows more words than its limit.
func (s *Stage) checkWordLimits() {
	s.t.Helper()
	for _, p := range s.Posts() {
		if limit, ok := WordLimits[p.Kind]; ok && VisibleWords(p.Body) > limit {
			s.t.Errorf("%d words are visible, and %d are enough for %s:\n%s", VisibleWords(p.Body), limit, p.Kind, p.Body)
		}
	}
}

var (
	comments = regexp.MustCompile(`(?s)<!--.*?(-->|$)`)
	details  = regexp.MustCompile(`(?i)<(/?)details\b[^>]*>`)
	elements = regexp.MustCompile(`</?[A-Za-z][^>]*>`)
	images   = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	links    = regexp.MustCompile(`\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^)]*\)`)
)

// VisibleWords counts the words of Markdown that are visible before anything is unfolded: it omits <details>, HTML
// comments, link addresses, images and emoji. A word is a run without white space that has a letter or a digit.
func VisibleWords(markdown string) int {
	s := unfolded(comments.ReplaceAllString(plainCode(markdown), " "))
	s = images.ReplaceAllString(s, " ")
	s = links.ReplaceAllString(s, "$1")
	s = elements.ReplaceAllString(s, " ")
	n := 0
	for _, w := range strings.Fields(s) {
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

// inCode replaces characters in code that could be taken for an element or a link.
var inCode = strings.NewReplacer("<", "‹", "[", "(", "]", ")")

// plainCode is Markdown with these characters replaced in all code, inline or fenced.
func plainCode(s string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(s) {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence != "" && strings.TrimSpace(line) == fence:
			fence = ""
		case fence != "":
			line = inCode.Replace(line)
		case len(ticks) >= 3 && !strings.Contains(line[len(ticks):], "`"): // else a code span
			fence = ticks
		default:
			line = plainSpans(line)
		}
		b.WriteString(line)
	}
	return b.String()
}

// plainSpans does that for the code spans of a line.
func plainSpans(line string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(line, '`')
		if i < 0 {
			return b.String() + line
		}
		rest := strings.TrimLeft(line[i:], "`")
		tick := line[i : len(line)-len(rest)]
		b.WriteString(line[:i] + tick)
		line = rest
		for at := 0; ; { // the next run of as many backticks closes it
			j := strings.Index(line[at:], tick)
			if j < 0 {
				break
			}
			after := strings.TrimLeft(line[at+j:], "`")
			if len(line)-at-j-len(after) == len(tick) {
				b.WriteString(inCode.Replace(line[:at+j]) + tick)
				line = after
				break
			}
			at = len(line) - len(after)
		}
	}
}

// unfolded is a text without its <details>, also nested ones. An unclosed one folds everything after it.
func unfolded(s string) string {
	var b strings.Builder
	depth, at := 0, 0
	for _, m := range details.FindAllStringSubmatchIndex(s, -1) {
		if depth == 0 {
			b.WriteString(s[at:m[0]] + " ")
		}
		if m[2] == m[3] {
			depth++
		} else {
			depth = max(0, depth-1)
		}
		at = m[1]
	}
	if depth == 0 {
		b.WriteString(s[at:])
	}
	return b.String()
}
