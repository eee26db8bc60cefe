package webhook

import (
	"strconv"
	"time"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// dateMember matches a member of a JSON object that holds a date. It can't begin within a string: quotes there are
// escaped.
var dateMember = lazyregexp.New(`("\w*(?:_at|_on|date|timestamp)"\s*:\s*)("(?:[^"\\]|\\.)*"|-?[0-9.]+)`)

// normalizeDates rewrites the dates of a payload in the format that go-github reads. An unreadable one becomes null.
func normalizeDates(body []byte) []byte {
	return []byte(dateMember.ReplaceAllStringFunc(string(body), func(member string) string {
		part := dateMember.FindStringSubmatch(member)
		return part[1] + normalizeDate(part[2])
	}))
}

// normalizeDate returns a JSON date in RFC 3339 or in whole seconds, or null if it can't read value.
func normalizeDate(value string) string {
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
