package github

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// dateLayouts are the forms of dates that payloads were seen to carry.
var dateLayouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04:05-0700", "2006-01-02", time.RFC1123,
	time.RFC1123Z,
}

// FixDates writes the dates of a JSON object in the one form that can be read.
// One that says nothing becomes null. A body without odd dates, which is nearly
// every, stays as it is, byte by byte.
func FixDates(body []byte) []byte {
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

// hasOddDate looks for a date in another form without reading the JSON, for every answer
// and delivery passes here.
func hasOddDate(body []byte) bool {
	const space = " \t\r\n"
	for {
		colon := bytes.IndexByte(body, ':')
		if colon < 0 {
			return false
		}
		name, isString := bytes.CutSuffix(bytes.TrimRight(body[:colon], space), []byte{'"'})
		body = body[colon+1:]
		if isString && dated(name) && !plainDate(firstValue(bytes.TrimLeft(body, space))) {
			return true
		}
	}
}

// firstValue is the string, number or word with which a JSON text begins; empty where
// something else does.
func firstValue(b []byte) string {
	if len(b) == 0 || b[0] != '"' {
		if end := bytes.IndexAny(b, " \t\r\n,]}"); end >= 0 {
			b = b[:end]
		}
		return string(b)
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return string(b[:i+1])
		}
	}
	return ""
}

// plainDate reports whether a value is read as it is: RFC 3339, a whole number of
// seconds, and what is no date by its kind.
func plainDate(value string) bool {
	switch {
	case value == "":
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
			if dated([]byte(name)) {
				v[name] = mendDate(e)
			} else {
				mendDates(e)
			}
		}
	}
}

// dateEnds are what the names of fields that hold dates end in.
var dateEnds = [][]byte{[]byte("_at"), []byte("_on"), []byte("timestamp"), []byte("date"), []byte("created"),
	[]byte("updated")}

// dated reports whether a field holds a date, by its name.
func dated(name []byte) bool {
	return slices.ContainsFunc(dateEnds, func(end []byte) bool { return bytes.HasSuffix(name, end) })
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
