package render

import (
	"fmt"
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
		v, ok := unescapeField(f[i+1])
		if !ok {
			return Marker{}, false
		}
		got[i] = v
	}
	return Marker{Task: sia.TaskID(got[0]), Kind: got[1], Key: got[2]}, true
}

// escapeField keeps letters, digits and "._:/-"; a dash after a dash is escaped
// too, because "--" is not allowed inside an HTML comment. The empty field is "%".
func escapeField(s string) string {
	if s == "" {
		return "%"
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.IndexByte("._:/", c) >= 0 || c == '-' && (i == 0 || s[i-1] != '-')
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// unescapeField accepts exactly what escapeField writes.
func unescapeField(s string) (string, bool) {
	if s == "%" {
		return "", true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		var c byte
		if i+2 >= len(s) {
			return "", false
		}
		if _, err := fmt.Sscanf(s[i+1:i+3], "%02X", &c); err != nil {
			return "", false
		}
		b.WriteByte(c)
		i += 2
	}
	if v := b.String(); escapeField(v) == s {
		return v, true
	}
	return "", false
}
