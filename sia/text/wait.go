package text

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// longestWait is the maximum result of RetryAfter. Callers use a lower limit.
const longestWait = 365 * 24 * time.Hour

// dates are the formats of a date in a header; the first is the current one.
// https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7
var dates = []string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 MST", time.ANSIC}

// RetryAfter parses a server's header Retry-After: seconds, which some servers write with a fraction, or a
// date. A date in the past is a wait of 0. ok is false if the header is empty or invalid.
// https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
func RetryAfter(header string, now time.Time) (wait time.Duration, ok bool) {
	header = strings.TrimSpace(header)
	if s, err := strconv.ParseFloat(header, 64); err == nil {
		if math.IsNaN(s) || s < 0 {
			return 0, false
		}
		return time.Duration(min(s, longestWait.Seconds()) * float64(time.Second)), true
	}
	for _, form := range dates {
		if at, err := time.Parse(form, header); err == nil {
			return min(max(0, at.Sub(now)), longestWait), true
		}
	}
	return 0, false
}
