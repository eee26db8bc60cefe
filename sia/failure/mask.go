package failure

import (
	"regexp"
	"strings"
)

// What varies from run to run of the same failure, in the order in which it is
// masked. Names, symbols, error codes and messages stay.
var masks = []struct {
	re *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*`), "<time>"},
	{regexp.MustCompile(`\b\d{1,2}:\d\d(:\d\d)?(\.\d+)?( [AP]M)?\b`), "<time>"},
	{regexp.MustCompile(`(?i)\b0x[0-9a-f]+\b`), "<hex>"},
	{regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "<id>"},
	{regexp.MustCompile(`(?i)\b[0-9a-f]*(\d[a-f]|[a-f]\d)[0-9a-f]*\b`), "<hex>"},
	{regexp.MustCompile(`(/home/runner/work|/home/travis/build|/Users/travis/build|/Users/runner/work|/__w|/builds|D:\\a|C:\\projects|/tmp|/private/var/folders|/var/folders)(/[\w.@+-]+)?(/[\w.@+-]+)?`), "<root>"},
	{regexp.MustCompile(`\d+`), "#"},
	{regexp.MustCompile(`\s+`), " "},
}

// mask reduces a line to what it means.
func mask(s string) string {
	for _, m := range masks {
		s = m.re.ReplaceAllString(s, m.by)
	}
	return strings.TrimSpace(s)
}
