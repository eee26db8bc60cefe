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

// WeighPackage is everything that a reviewer sees to decide whether an issue asks for the changed expectations.
type WeighPackage struct {
	Issue    string   // title and text, as far as they may ask for changes
	By       string   // their author and their trust level, from sia.IssueBy
	Findings []string // the changed expectations
	Diff     string   // diff of tests and their data
}

// Minimum and maximum length of a quote.
const (
	minQuoteWords = 3
	maxQuote      = 400 // characters
)

// Weigh asks the model to quote, for each finding, the sentence of the issue that asks for it. quotes has one verbatim
// quote per finding, "" for none. If the model fails, quotes is nil and why is the reason. The only error is that of
// ctx.
func (r *Reviewer) Weigh(
	ctx context.Context, p WeighPackage,
) (quotes []string, why string, usage llm.Usage, err error) {
	c := conversation{model: r.Model, timeout: r.Timeout, usage: &usage}
	why, err = askModel(ctx, r.Model, "", r.Log, "weigh changed expectations", "changed expectations not weighed",
		func() error {
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

// weighEvidence formats the issue and the changes, within room bytes.
func weighEvidence(p WeighPackage, room int) string {
	var findings strings.Builder
	for i, f := range p.Findings {
		fmt.Fprintf(&findings, "%d. %s\n", i+1, text.OneLine(f))
	}
	var s sheet
	s.add("The issue", cmp.Or(p.By, sia.IssueBy("", "", "")), visibleText(p.Issue), room*40/100)
	s.add("The findings", "From SIA; what stands in backticks is from the coding agent.", findings.String(), room*20/100)
	s.add("The change of tests and their data", "From the coding agent.", p.Diff, room*40/100)
	return s.String()
}

// parseQuotes parses an answer and drops quotes that are not in the issue.
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
	issue := visibleText(p.Issue)
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

// Patterns for the text around a quote in an issue.
const (
	// atWord lets a quote begin at any word.
	atWord = `(?:^|[^\p{L}\p{M}\p{N}])`
	// atClause lets a quote begin at the start of a line, a sentence or a clause, since earlier words may negate the
	// rest.
	atClause = `(?:^|\n|[^\p{L}\p{M}\p{N}\p{Z}\s'’-][ \t\p{Zs}]*|-[ \t\p{Zs}]+)`
	// quoteEnd matches what may follow a quote: nothing that continues its last word or number.
	quoteEnd = `(?:$|[^\p{L}\p{M}\p{N}.,]|[.,](?:$|\P{N}))`
)

// restricts matches words that limit or negate the preceding part of a sentence: a quote without them changes the
// meaning. Other wordings and languages are not recognised, but a maintainer still sees the quote.
var restricts = lazyregexp.New(`(?i)\b(?:unless|except(?:ing)?|excluding|other than|apart from|as long as|provided|` +
	`if and only if|only (?:if|when|for|in|on)|but (?:not|only|never))\b`)

// sentenceEnd matches the end of a sentence.
var sentenceEnd = lazyregexp.New(`[.!?](?:[\s"'”’)]|$)|\n\s*(?:\n|[-*+] |\d+[.)] )`)

// quoteFrom returns a quote as it occurs in the issue, on one line; empty when the issue does not contain it verbatim,
// or when it is too short or too long. Differences in white space, a final full stop and the style of quotation marks
// and dashes are ignored, because models change them. rest is the text that follows in the same sentence.
func quoteFrom(issue, quote, begins string) (found, rest string) {
	words := strings.Fields(cleanText(quote))
	if countWords(words) < minQuoteWords || utf8.RuneCountInString(strings.Join(words, " ")) > maxQuote {
		return "", ""
	}
	last, ended := strings.CutSuffix(words[len(words)-1], ".")
	words[len(words)-1] = last
	for i, w := range words {
		words[i] = anyQuoteStyle(w)
	}
	pattern := strings.Join(words, `[\s\p{Z}]+`)
	if ended {
		pattern += `\.?`
	}
	re, err := regexp.Compile(begins + "(" + pattern + ")" + quoteEnd)
	if err != nil { // impossible: the pattern consists of quoted characters
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

// anyQuoteStyle returns a pattern for a word with any style of quotation marks and dashes.
func anyQuoteStyle(word string) string {
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

// countWords returns the number of words. In a script without spaces between words, a word has about two characters.
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
