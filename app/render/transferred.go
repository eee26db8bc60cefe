package render

import (
	"fmt"

	"github.com/sia-bot/sia/sia"
)

// Transferred replaces a task's status comment on an issue that was transferred: in another repository, numbers have
// another meaning, so all links are in full.
func Transferred(t sia.Task, l Links) string {
	s := "### " + Headline(t) + "\n\nThe issue was transferred here from " + Code(t.Repo.String(), 150) +
		", so SIA does not work on it any more. Comment `/sia start` to have it resolved here."
	if t.Pull.Number != 0 {
		s += " What had been done is in " +
			link(fmt.Sprintf("pull request #%d there", t.Pull.Number), l.Pull(t.Repo, t.Pull.Number)) + "."
	}
	return s
}
