package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/lesson"
)

// GitHub's placeholder user for deleted accounts: https://github.com/ghost
const (
	ghostLogin = "ghost"
	ghostID    = 10137
)

// person has the logins and ids to search for.
type person struct {
	logins []string
	ids    []int64
}

// loginKeys lists, in lower case, the members of JSON objects and the columns that hold a login.
var loginKeys = map[string]bool{
	"login": true, "by_login": true, "by": true, "to": true, "author": true, "user": true, "actor": true, "sender": true,
	"proposed_by": true, "approved_by": true, "asked_by": true,
}

// find yields the positions of the logins in a text, as whole words and in any case.
func (p person) find(text string, yield func(start, end int)) {
	if len(text) == 0 {
		return
	}
	low := strings.ToLower(text)
	if len(low) != len(text) { // some letters change their length; logins are ASCII
		low = asciiLower(text)
	}
	for _, login := range p.logins {
		login = strings.ToLower(login)
		for from := 0; login != ""; { // an empty login would match endlessly
			i := strings.Index(low[from:], login)
			if i < 0 {
				break
			}
			start, end := from+i, from+i+len(login)
			if (start == 0 || !inLogin(low[start-1])) && (end == len(low) || !inLogin(low[end])) {
				yield(start, end)
			}
			from = end
		}
	}
}

// mayBeIn reports whether a text, or JSON, may name the person. It is faster than to decode the JSON, in which a login
// may follow the letter of an escape, such as \n.
func (p person) mayBeIn(text string) bool {
	low := strings.ToLower(text)
	return strings.Contains(text, `\u`) || slices.ContainsFunc(p.logins, func(login string) bool {
		return strings.Contains(low, strings.ToLower(login))
	}) || slices.ContainsFunc(p.ids, func(id int64) bool { return strings.Contains(text, strconv.FormatInt(id, 10)) })
}

// isIn reports whether JSON names the person.
func (p person) isIn(text []byte) bool {
	e := rowEraser{who: p}
	e.text(string(text))
	return e.changed || e.words > 0
}

func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func inLogin(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// rowEraser removes a person from one row.
type rowEraser struct {
	who     person
	changed bool
	words   int
}

// wordsLeft is 1 when the row still has the login as a word.
func (e *rowEraser) wordsLeft() int { return min(e.words, 1) }

// login returns the replacement for a value that is a login, perhaps after an @.
func (e *rowEraser) login(s string) string {
	name := strings.TrimPrefix(s, "@")
	if slices.ContainsFunc(e.who.logins, func(l string) bool { return strings.EqualFold(l, name) }) {
		e.changed = true
		return strings.TrimSuffix(s, name) + ghostLogin
	}
	return s
}

// text returns a text, or JSON, without the person.
func (e *rowEraser) text(s string) string {
	if !e.who.mayBeIn(s) {
		return s
	}
	if strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		var v any
		if d.Decode(&v) == nil && !d.More() {
			inner := rowEraser{who: e.who}
			v = inner.value("", v)
			e.words += inner.words
			if !inner.changed {
				return s
			}
			var out bytes.Buffer
			enc := json.NewEncoder(&out)
			enc.SetEscapeHTML(false)
			if enc.Encode(v) == nil {
				e.changed = true
				return strings.TrimSuffix(out.String(), "\n")
			}
		}
	}
	return e.prose(s)
}

// value returns a JSON value without the person. key is the nearest enclosing object key.
func (e *rowEraser) value(key string, v any) any {
	switch v := v.(type) {
	case string:
		if loginKeys[strings.ToLower(key)] {
			if out := e.login(v); out != v {
				return out
			}
		}
		return e.text(v)
	case []any:
		for i := range v {
			v[i] = e.value(key, v[i])
		}
	case map[string]any:
		e.object(v)
	}
	return v
}

func (e *rowEraser) object(m map[string]any) {
	var id string
	theirs, actor := false, false
	for key, v := range m {
		switch strings.ToLower(key) {
		case "login":
			login, _ := v.(string)
			actor, theirs = true, e.login(login) != login
		case "id":
			id = key
		}
	}
	if n, ok := m[id].(json.Number); ok && actor {
		number, err := n.Int64()
		if theirs || err == nil && slices.Contains(e.who.ids, number) {
			m[id], e.changed = json.Number(strconv.Itoa(ghostID)), true
			for key := range m {
				if strings.EqualFold(key, "login") {
					m[key] = ghostLogin
				}
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		v, name := e.value(key, m[key]), e.prose(key)
		if name != key {
			delete(m, key)
			name = unusedKey(m, name)
		}
		m[name] = v
	}
	// The search words of a lesson come from its text, which may have had logins.
	if words, ok := m["words"].([]any); ok && e.changed {
		theirs := lesson.Words(strings.Join(e.who.logins, " "), 100)
		m["words"] = slices.DeleteFunc(words, func(v any) bool {
			word, _ := v.(string)
			return slices.Contains(theirs, word)
		})
	}
}

// unusedKey returns a key that an object does not have: the given one, or that with a number.
func unusedKey(m map[string]any, first string) string {
	key := first
	for n := 2; ; n++ {
		if _, taken := m[key]; !taken {
			return key
		}
		key = fmt.Sprintf("%s-%d", first, n)
	}
}

var (
	profileBefore = lazyregexp.New(`https?://[^/\s]+/$`)
	keyBefore     = lazyregexp.New(`(?i)"login\\*"\s*:\s*\\*"$`)
	idBefore      = lazyregexp.New(`[0-9]+\+$`)
	idAfter       = lazyregexp.New(`^ \([0-9]+\)`)
)

// prose replaces the logins in a text where they are unambiguous, and counts the other occurrences.
func (e *rowEraser) prose(s string) string {
	if key := lesson.ReplaceRaters(s, e.who.ids, ghostID); key != s {
		s, e.changed = key, true
	}
	type span struct {
		start, end int
		with       string
	}
	var spans []span
	e.who.find(s, func(start, end int) {
		before, after := s[max(0, start-100):start], s[end:min(len(s), end+40)]
		at := span{start, end, ghostLogin}
		switch {
		case strings.HasPrefix(after, "@users.noreply."):
			at.start -= len(idBefore.FindString(before))
		case strings.HasSuffix(before, "@") && (len(before) == 1 || !inLogin(before[len(before)-2])) &&
			!strings.HasPrefix(after, "/"):
			if id := idAfter.FindString(after); id != "" {
				at.end, at.with = end+len(id), ghostLogin+" ("+strconv.Itoa(ghostID)+")"
			}
		case profileBefore.MatchString(before) && !strings.HasPrefix(after, "/"), keyBefore.MatchString(before):
		default:
			e.words++
			return
		}
		spans = append(spans, at)
	})
	if len(spans) == 0 {
		return s
	}
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	var b strings.Builder
	last := 0
	for _, at := range spans {
		if at.start < last {
			continue
		}
		b.WriteString(s[last:at.start])
		b.WriteString(at.with)
		last = at.end
	}
	b.WriteString(s[last:])
	e.changed = true
	return b.String()
}
