package render

import (
	"fmt"

	"github.com/sia-bot/sia/sia"
)

// Transferred takes the place of a task's status comment on an issue that was transferred: in another repository, where
// numbers mean something else, it names what it links to in full.
func Transferred(t sia.Task, l Links) string {
	s := "### " + Headline(t) + "\n\nThe issue was transferred here from " + Code(t.Repo.String(), 150) +
		", so SIA does not work on it any more. Comment `/sia start` to have it resolved here."
	if t.Pull.Number != 0 {
		s += " What had been done is in " +
			link(fmt.Sprintf("pull request #%d there", t.Pull.Number), l.Pull(t.Repo, t.Pull.Number)) + "."
	}
	return s
}
