package tamper

import "github.com/sia-bot/sia/sia/lazyregexp"

var (
	constant = lazyregexp.New(`^(?:[A-Z][A-Z0-9_]+|(?:Status|Err|Code)[A-Z]\w*)$`)
	capital  = lazyregexp.New(`^[A-Z]\w*$`)
)

// literal is the value that a token names, in one spelling for all languages; ""
// when it names none.
func literal(t token) string {
	switch t.kind {
	case number:
		return t.text
	case text:
		return `"` + t.text
	case word:
		switch t.text {
		case "true", "True":
			return "true"
		case "false", "False":
			return "false"
		case "nil", "null", "None", "undefined", "NULL":
			return "nil"
		}
	}
	return ""
}

// literals lists the values that tokens name; types too where the claim is about
// what is thrown.
func literals(ts []token, types bool) []string {
	var out []string
	for i, t := range ts {
		v := literal(t)
		if v != "" && t.kind == number && i > 0 && ts[i-1].text == "-" {
			v = "-" + v
		}
		call := i+1 < len(ts) && ts[i+1].text == "("
		if v == "" && t.kind == word && i > 0 && !call {
			qualified := (ts[i-1].text == "." || ts[i-1].text == "::") && i > 1 && capital.MatchString(ts[i-2].text)
			if constant.MatchString(t.text) || qualified && capital.MatchString(t.text) || types && capital.MatchString(t.text) {
				v = t.text
			}
		}
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}
