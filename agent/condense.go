package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia/text"
)

// Bounds of the note that sums up an answer, in characters.
const (
	mostNote    = 500
	mostNoteArg = 120
	mostOutcome = 120
)

// noteOf sums an answer up in one line of a list: which files were read and changed,
// which commands ran and how they ended. It is made from the calls alone, so that it
// is true and always the same.
func noteOf(number int, said string, calls []Call) string {
	var did []string
	for _, c := range calls {
		if n := c.noteOfCall(); len(did) == 0 || did[len(did)-1] != n {
			did = append(did, n)
		}
	}
	if len(did) == 0 {
		did = append(did, "said: "+clipLine(Sanitize(said), mostOutcome))
	}
	return text.Clip(fmt.Sprintf("- answer %d: %s", number, strings.Join(did, "; ")), mostNote)
}

// noteOfCall sums a call up.
func (c Call) noteOfCall() string {
	var args struct {
		Path, Command, Pattern, Match string
	}
	_ = json.Unmarshal([]byte(c.Arguments), &args) // arguments that are none name nothing
	about := ""
	for _, a := range []string{args.Command, args.Pattern, args.Path, args.Match} {
		if a != "" && about == "" {
			about = " " + clipLine(Sanitize(a), mostNoteArg)
		}
	}
	if about == "" && len(c.Changed) > 0 {
		about = " " + clipLine(strings.Join(c.Changed, ", "), mostNoteArg)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(c.Result), "\n")
	outcome := ""
	if c.IsError || c.Name == tool.NameRun || c.Name == tool.NameTest {
		outcome = " → " + clipLine(Sanitize(first), mostOutcome)
	}
	return clipLine(Sanitize(c.Name), 60) + about + outcome
}
