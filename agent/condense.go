package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia/text"
)

// Maximum sizes in the note that summarizes an answer, in characters.
const (
	maxNote    = 500
	maxNoteArg = 120
	maxOutcome = 120
)

// turnNote summarizes an answer as one list item: files read and changed, commands run, and their results. It uses only
// the calls, so it is accurate and deterministic.
func turnNote(number int, answer string, calls []Call) string {
	var did []string
	for _, c := range calls {
		if n := c.note(); len(did) == 0 || did[len(did)-1] != n {
			did = append(did, n)
		}
	}
	if len(did) == 0 {
		did = append(did, "said: "+clipLine(Sanitize(answer), maxOutcome))
	}
	return text.Clip(fmt.Sprintf("- answer %d: %s", number, strings.Join(did, "; ")), maxNote)
}

// note summarizes a call.
func (c Call) note() string {
	var args struct {
		Path, Command, Pattern, Match string
	}
	_ = json.Unmarshal([]byte(c.Arguments), &args) // invalid arguments are treated as empty
	about := ""
	for _, a := range []string{args.Command, args.Pattern, args.Path, args.Match} {
		if a != "" && about == "" {
			about = " " + clipLine(Sanitize(a), maxNoteArg)
		}
	}
	if about == "" && len(c.Changed) > 0 {
		about = " " + clipLine(strings.Join(c.Changed, ", "), maxNoteArg)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(c.Result), "\n")
	outcome := ""
	if c.IsError || c.Name == tool.NameRun || c.Name == tool.NameTest {
		outcome = " → " + clipLine(Sanitize(first), maxOutcome)
	}
	return clipLine(Sanitize(c.Name), 60) + about + outcome
}
