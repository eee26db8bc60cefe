package webhook

import (
	"strconv"
	"time"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// dated is a date in a JSON text, by its name. None begins within a string, where quotes are escaped.
var dated = lazyregexp.New(`("\w*(?:_at|_on|date|timestamp)"\s*:\s*)("(?:[^"\\]|\\.)*"|-?[0-9.]+)`)

// mendDates writes the dates of a payload in the one form that can be read. One that says nothing becomes null.
func mendDates(body []byte) []byte {
	return []byte(dated.ReplaceAllStringFunc(string(body), func(member string) string {
		part := dated.FindStringSubmatch(member)
		return part[1] + mendDate(part[2])
	}))
}

// mendDate is a date in RFC 3339 or in whole seconds; null where there is none to be read.
func mendDate(value string) string {
	if _, err := strconv.ParseInt(value, 10, 64); err == nil {
		return value
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateTime + " MST", time.DateTime + " -0700",
		"2006-01-02T15:04:05-0700"} {
		if t, err := time.Parse(`"`+layout+`"`, value); err == nil {
			return t.UTC().Format(`"` + time.RFC3339Nano + `"`)
		}
	}
	return "null"
}
