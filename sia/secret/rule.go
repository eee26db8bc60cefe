package secret

import (
	"math"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// shapeRule recognises one shape of secrets.
type shapeRule struct {
	id       string
	keywords []string // lower case; every match contains one
	expr     *lazyregexp.Regexp
	group    int     // group of expr with the secret; 0: the first that matched, else the whole match
	entropy  float64 // minimum entropy of the secret, exclusive, in bits per byte; 0: any
	sure     bool
	before   int // maximum distance from the start of a match to its keyword, in bytes
	after    int // usual distance from the keyword to the end of a match, in bytes; a longer match is followed
	allow    []allowRule
	refuse   func(value string) bool // reports values that look like a secret but are not; may be nil
	// extend returns the end of a secret of which the match is only the beginning; ≤ start: no secret; may be nil.
	extend func(text string, start, end int) (e int)

	// at matches around the keyword text[start:end], instead of expr.
	at func(text string, start, end int) (value, match byteSpan, ok bool)
}

// The default window of rules around a keyword, in bytes. It is enough for the longest bounded rule of gitleaks.
const (
	defaultBefore = 160
	defaultAfter  = 512
	// maxFollowed is the maximum length of a match followed beyond its window, in bytes.
	maxFollowed = 64 << 10
)

// find appends the rule's findings in a window of text. After each secret it continues as if the text began there,
// because it does once the secret is masked.
func (r *shapeRule) find(out []Finding, text string, w byteSpan) []Finding {
	for w.start > 0 && isWordByte(text[w.start-1]) && isWordByte(text[w.start]) && w.end-w.start < maxFollowed {
		w.start--
	}
	for at := w.start; at < w.end; {
		m := r.expr.FindStringSubmatchIndex(text[at:w.end])
		if m == nil {
			return out
		}
		if end := at + m[1]; end == w.end && w.end < len(text) && w.end-at < maxFollowed {
			w.end = min(len(text), w.end+max(defaultAfter, w.end-at)) // the match may be longer
			continue
		}
		v := r.secret(m)
		start, end := at+v.start, at+v.end
		ok := r.isSecret(text[start:end], text[at+m[0]:at+m[1]])
		if ok && r.extend != nil {
			end = r.extend(text, start, end)
			ok = end > start
		}
		if ok {
			out = append(out, Finding{Rule: r.id, Start: start, End: end, Sure: r.sure})
			at = end
			continue
		}
		at += max(m[1], 1)
	}
	return out
}

// around appends the finding around a keyword of a rule with at.
func (r *shapeRule) around(out []Finding, text string, start, end int) []Finding {
	v, m, ok := r.at(text, start, end)
	if !ok || !r.isSecret(text[v.start:v.end], text[m.start:m.end]) {
		return out
	}
	return append(out, Finding{Rule: r.id, Start: v.start, End: v.end, Sure: r.sure})
}

// secret returns the span of the secret in a match.
func (r *shapeRule) secret(m []int) byteSpan {
	if r.group > 0 {
		return byteSpan{m[2*r.group], m[2*r.group+1]}
	}
	for i := 2; i+1 < len(m); i += 2 {
		if m[i] >= 0 && m[i] < m[i+1] {
			return byteSpan{m[i], m[i+1]}
		}
	}
	return byteSpan{m[0], m[1]}
}

// isSecret reports whether a matched value is a secret.
func (r *shapeRule) isSecret(value, match string) bool {
	if value == "" || isPlaceholder(value) || r.refuse != nil && r.refuse(value) {
		return false
	}
	if r.entropy > 0 && shannonEntropy(value) <= r.entropy {
		return false
	}
	return !slices.ContainsFunc(r.allow, func(a allowRule) bool { return a.holds(value, match) })
}

// allowRule describes matches of a rule that are not secrets.
type allowRule struct {
	All       bool     `json:"all,omitempty"`   // both expressions and words must hold
	Match     bool     `json:"match,omitempty"` // expressions see the whole match instead of the value
	Exprs     []string `json:"exprs,omitempty"`
	StopWords []string `json:"stop_words,omitempty"` // lower case

	exprs []*lazyregexp.Regexp
}

func (a allowRule) holds(value, match string) bool {
	subject := value
	if a.Match {
		subject = match
	}
	expr := slices.ContainsFunc(a.exprs, func(e *lazyregexp.Regexp) bool { return e.MatchString(subject) })
	lower := strings.ToLower(value)
	word := slices.ContainsFunc(a.StopWords, func(w string) bool { return strings.Contains(lower, w) })
	if a.All {
		return (expr || len(a.exprs) == 0) && (word || len(a.StopWords) == 0)
	}
	return expr || word
}

// shannonEntropy returns the Shannon entropy of s, in bits per byte.
func shannonEntropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	e := 0.0
	for _, n := range &counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			e -= p * math.Log2(p)
		}
	}
	return e
}

// isPlaceholder reports whether a value is a placeholder in documentation: one repeated character after the issuer's
// prefix.
func isPlaceholder(value string) bool {
	tail := value[strings.LastIndexAny(value[:max(0, len(value)-1)], "_-")+1:]
	if len(tail) < 8 {
		tail = value
	}
	return len(tail) >= 8 && strings.Count(tail, tail[:1]) == len(tail) && strings.IndexByte("xX*.-_#", tail[0]) >= 0
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
