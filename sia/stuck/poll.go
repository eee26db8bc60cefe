package stuck

import "strings"

// pollWords are words of a tool's name or of a command that say that the agent
// waits for something that runs.
var pollWords = map[string]bool{
	"sleep": true, "wait": true, "watch": true, "poll": true, "status": true, "ps": true, "pgrep": true,
	"jobs": true, "healthcheck": true, "wait_for": true, "logs": true, "tail": true,
}

// isPoll reports whether an action waits for something that runs. An error is
// never patience.
func isPoll(a Action) bool {
	if a.Error {
		return false
	}
	for _, s := range []string{a.Tool, a.Args} {
		words := strings.FieldsFunc(s, func(r rune) bool {
			return !(r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
		})
		for i, w := range words {
			if i < 24 && pollWords[w] && !(w == "status" && i > 0 && words[i-1] == "git") {
				return true
			}
		}
	}
	return false
}
