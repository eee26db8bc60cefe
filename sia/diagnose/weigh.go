package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// WeighPackage is all that a reviewer sees who says whether an issue asks for what
// was changed.
type WeighPackage struct {
	Issue    string   // its title and text, as far as they may ask for something
	By       string   // their author and how far to trust them, as sia.IssueBy says
	Findings []string // the changed expectations
	Diff     string   // of tests and their data
}

// What a quote has at least and at most: less is no sentence, and more is no quote.
const (
	minQuoteWords = 3
	maxQuote      = 400 // characters
)

// Weigh asks for the sentence of the issue that asks for each finding. Quotes has one
// for each finding, which stands in the issue word for word; empty where there is none. Trouble
// with the model gives no quotes, and why. The only error is that ctx ended.
func (r *Reviewer) Weigh(
	ctx context.Context, p WeighPackage,
) (quotes []string, why string, usage llm.Usage, err error) {
	c := conversation{model: r.Model, timeout: r.Timeout, usage: &usage}
	why, err = answered(ctx, r.Model, "", r.Log, "weigh changed expectations", "changed expectations not weighed",
		func() string {
			c.open("weigh", nil, reviewTokens, func(room int) string { return weighEvidence(p, room) })
			return c.ask(ctx, wireSchema("weigh", loadSchema("weigh")), func(raw []byte) (err error) {
				quotes, err = parseQuotes(raw, p)
				return err
			})
		})
	if err != nil || why != "" {
		return nil, why, usage, err
	}
	return quotes, "", usage, nil
}

// weighEvidence lays out the issue and what was changed, within room bytes.
func weighEvidence(p WeighPackage, room int) string {
	var findings strings.Builder
	for i, f := range p.Findings {
		fmt.Fprintf(&findings, "%d. %s\n", i+1, text.OneLine(f))
	}
	var s sheet
	s.add("The issue", cmp.Or(p.By, sia.IssueBy("", "", "")), shown(p.Issue), room*40/100)
	s.add("The findings", "From SIA; what stands in backticks is from the coding agent.", findings.String(), room*20/100)
	s.add("The change of tests and their data", "From the coding agent.", p.Diff, room*40/100)
	return s.String()
}

// parseQuotes reads an answer. A quote that does not stand in the issue is none.
func parseQuotes(raw []byte, p WeighPackage) ([]string, error) {
	var v struct {
		Asked []struct {
			Finding int    `json:"finding"`
			Quote   string `json:"quote"`
		} `json:"asked"`
	}
	if err := readAnswer(lenientWeighing, raw, &v); err != nil {
		return nil, err
	}
	issue := shown(p.Issue)
	quotes := make([]string, len(p.Findings))
	for _, a := range v.Asked {
		if a.Finding >= 1 && a.Finding <= len(quotes) && quotes[a.Finding-1] == "" {
			if q, rest := quoteFrom(issue, a.Quote, atClause); !restricts.MatchString(rest) {
				quotes[a.Finding-1] = q
			}
		}
	}
	return quotes, nil
}

// Where in an issue a quote may begin.
const (
	// atWord is before any word.
	atWord = `(?:^|[^\p{L}\p{M}\p{N}])`
	// atClause is where a line, a sentence or a clause begins: what stands before the rest of one may say "not".
	atClause = `(?:^|\n|[^\p{L}\p{M}\p{N}\p{Z}\s'’-][ \t\p{Zs}]*|-[ \t\p{Zs}]+)`
	// quoteEnd is what may follow a quote: nothing that makes another word or number of its last one.
	quoteEnd = `(?:$|[^\p{L}\p{M}\p{N}.,]|[.,](?:$|\P{N}))`
)

// restricts finds what takes back, or limits, what stands before it in a sentence: who leaves that out of a quote
// quotes something else. Where it is said in another way or language, a person still sees the quote.
var restricts = lazyregexp.New(`(?i)\b(?:unless|except(?:ing)?|excluding|other than|apart from|as long as|provided|` +
	`if and only if|only (?:if|when|for|in|on)|but (?:not|only|never))\b`)

// sentenceEnd is where a sentence ends.
var sentenceEnd = lazyregexp.New(`[.!?](?:[\s"'”’)]|$)|\n\s*(?:\n|[-*+] |\d+[.)] )`)

// quoteFrom is a quote that stands in the issue word for word, as the issue has it, on one line; empty when it
// does not, or is no sentence. White space, a full stop at the end, and the shapes of quotation marks and
// dashes don't count: models change them without being asked to. rest is what follows in the same sentence.
func quoteFrom(issue, quote, begins string) (found, rest string) {
	words := strings.Fields(cleanText(quote))
	if countWords(words) < minQuoteWords || utf8.RuneCountInString(strings.Join(words, " ")) > maxQuote {
		return "", ""
	}
	last, ended := strings.CutSuffix(words[len(words)-1], ".")
	words[len(words)-1] = last
	for i, w := range words {
		words[i] = anyShape(w)
	}
	pattern := strings.Join(words, `[\s\p{Z}]+`)
	if ended {
		pattern += `\.?`
	}
	re, err := regexp.Compile(begins + "(" + pattern + ")" + quoteEnd)
	if err != nil { // it is made of single characters
		return "", ""
	}
	m := re.FindStringSubmatchIndex(issue)
	if m == nil {
		return "", ""
	}
	if found, rest = issue[m[2]:m[3]], issue[m[3]:]; strings.HasSuffix(found, ".") {
		return text.OneLine(found), ""
	}
	if end := sentenceEnd.FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	return text.OneLine(found), rest
}

// anyShape is a pattern for a word with its quotation marks and dashes in whatever shape.
func anyShape(word string) string {
	var b strings.Builder
	for _, r := range word {
		switch {
		case strings.ContainsRune(`'‘’‚`, r):
			b.WriteString(`['‘’‚]`)
		case strings.ContainsRune(`"“”„«»`, r):
			b.WriteString(`["“”„«»]`)
		case strings.ContainsRune(`-‐‑–—−`, r):
			b.WriteString(`[-‐‑–—−]`)
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return b.String()
}

// countWords is how many words there are. Where a script has no spaces between them, a word has about two characters.
func countWords(fields []string) (n int) {
	for _, f := range fields {
		packed := 0
		for _, r := range f {
			if text.Unspaced(r) {
				packed++
			}
		}
		n += max(1, packed/2)
	}
	return n
}
