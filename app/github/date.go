package github

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// datedField matches a field whose name is that of a date, and its value.
var datedField = regexp.MustCompile(
	`"[a-z_]*(?:_at|_on|timestamp|date|created|updated)"\s*:\s*("(?:[^"\\]|\\.)*"|[^\s,}\]]+)`)

// dateLayouts are the forms of dates that payloads were seen to carry.
var dateLayouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04:05-0700", "2006-01-02", time.RFC1123,
	time.RFC1123Z,
}

// MendDates writes the dates of a JSON object in the one form that can be read.
// One that says nothing becomes null. A body without odd dates, which is nearly
// every, stays as it is, byte by byte.
func MendDates(body []byte) []byte {
	if !hasOddDate(body) {
		return body
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		return body // what is wrong with it shows when it is read
	}
	mendDates(v)
	mended, err := json.Marshal(v)
	if err != nil {
		return body
	}
	return mended
}

func hasOddDate(body []byte) bool {
	for len(body) > 0 {
		at := datedField.FindSubmatchIndex(body)
		if at == nil {
			return false
		}
		if !plainDate(string(body[at[2]:at[3]])) {
			return true
		}
		body = body[at[3]:]
	}
	return false
}

// plainDate reports whether a value is read as it is: RFC 3339, a whole number of
// seconds, and what is no date by its kind.
func plainDate(value string) bool {
	switch {
	case value[0] == '"':
		_, err := time.Parse(`"`+time.RFC3339+`"`, value)
		return err == nil
	case value[0] == '-' || value[0] >= '0' && value[0] <= '9':
		n, err := strconv.ParseInt(value, 10, 64)
		return err == nil && n >= 0 && n < 1e11
	}
	return true
}

func mendDates(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			mendDates(e)
		}
	case map[string]any:
		for name, e := range v {
			if dated(name) {
				v[name] = mendDate(e)
			} else {
				mendDates(e)
			}
		}
	}
}

// dated reports whether a field holds a date, by its name.
func dated(name string) bool {
	for _, end := range []string{"_at", "_on", "timestamp", "date", "created", "updated"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// mendDate is a date in RFC 3339; null where there is none to be read. What is
// neither a string nor a number is left alone.
func mendDate(v any) any {
	switch v := v.(type) {
	case string:
		for _, layout := range dateLayouts {
			if t, err := time.Parse(layout, v); err == nil {
				return t.UTC().Format(time.RFC3339Nano)
			}
		}
		if n := json.Number(v); v != "" && strings.Trim(v, "0123456789.") == "" {
			return mendDate(n)
		}
		return nil
	case json.Number:
		seconds, err := v.Float64()
		if err != nil {
			return nil
		}
		if seconds >= 1e11 { // milliseconds
			seconds /= 1000
		}
		if seconds < 0 || seconds >= 1e11 {
			return nil
		}
		return time.UnixMilli(int64(seconds * 1000)).UTC().Format(time.RFC3339Nano)
	}
	mendDates(v)
	return v
}
