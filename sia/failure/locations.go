package failure

import (
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Location is a line of a file as a log names it. The name may be a path on the machine that ran the check, or the last
// part of a path.
type Location struct {
	File string // with slashes
	Line int    // 1-based
	At   int    // offset of the name in the log, in bytes
}

// namedLine matches a location as compilers, test runners, .NET and Python write it. [codeLocation] matches columns,
// too.
var namedLine = lazyregexp.New(`([\w@+./\\-]*\w\.[A-Za-z]\w{0,9})(?::line |:|", line | line |\()(\d{1,7})\b`)

// Locations returns the locations that a log names, in order, at most most of them.
func Locations(log string, most int) (all []Location) {
	for _, m := range namedLine.FindAllStringSubmatchIndex(log, most) {
		file := strings.TrimPrefix(strings.ReplaceAll(log[m[2]:m[3]], `\`, "/"), "./")
		if line := parseDecimal([]byte(log[m[4]:m[5]])); line > 0 {
			all = append(all, Location{File: file, Line: line, At: m[2]})
		}
	}
	return all
}
