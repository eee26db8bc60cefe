package text

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// longestWait is the most that RetryAfter says. Whoever asks bounds it further.
const longestWait = 365 * 24 * time.Hour

// dates are the forms of a date in a header, the first of which is written today.
// https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7
var dates = []string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 MST", time.ANSIC}

// RetryAfter reads how long a server asks to wait, as its header Retry-After says it: in seconds, which
// some write with a fraction, or as a date. A date that is past is no wait at all. ok is false where
// there is nothing, or nonsense.
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
