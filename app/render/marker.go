package render

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Marker identifies a comment, issue or pull request that SIA wrote. It is the first line of the body. It is valid only
// if the author is the app: the caller has to check that first.
type Marker struct {
	Task sia.TaskID
	Kind string // kind of text, such as "status" or "announce"
	Key  string // the effect's key, unique forever
}

// String is `<!-- sia:v1 task=<id> kind=<kind> key=<key> -->`. Bytes that could
// end the comment or a field are written as %XX.
func (m Marker) String() string {
	return fmt.Sprintf("<!-- sia:v1 task=%s kind=%s key=%s -->", escapeField(string(m.Task)), escapeField(m.Kind),
		escapeField(m.Key))
}

var markerLine = lazyregexp.New(`^<!-- sia:v1 task=([^\s]+) kind=([^\s]+) key=([^\s]+) -->(?:\r?\n|$)`)

// ParseMarker reads the marker at the very start of a body. Elsewhere a marker is ignored.
func ParseMarker(body string) (Marker, bool) {
	f := markerLine.FindStringSubmatch(body)
	if f == nil {
		return Marker{}, false
	}
	var got [3]string
	for i := range got {
		v, err := unescapeField(f[i+1])
		if err != nil {
			return Marker{}, false
		}
		got[i] = v
	}
	m := Marker{Task: sia.TaskID(got[0]), Kind: got[1], Key: got[2]}
	return m, strings.HasPrefix(body, m.String()) // only as SIA writes it
}

// fieldEscapes adapts the escapes of a query: "/" and ":" stay as they are, and a dash after a dash is escaped, because
// "--" is not allowed inside an HTML comment.
var fieldEscapes = strings.NewReplacer("%2F", "/", "%3A", ":", "+", "%20", "~", "%7E", "--", "-%2D")

// escapeField escapes all but letters, digits and "._:/-". The empty field is "%".
func escapeField(s string) string {
	if s == "" {
		return "%"
	}
	return fieldEscapes.Replace(url.QueryEscape(s))
}

func unescapeField(s string) (string, error) {
	if s == "%" {
		return "", nil
	}
	return url.PathUnescape(s)
}
