package sia

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// unrecorded is the maximum number of events that may have moved a task after its
// memory was last written. Effect keys contain the version, and GitHub shows keys from
// before the loss: none may be reused.
const unrecorded = 1000

// restore creates a task from its memory. This is no way around the gate: a task that is
// restored as passed did pass, by a green verdict in its record, and restoring it has no
// further effect.
func (s *step) restore(f Restored) {
	t := f.Task.clone()
	switch {
	case t.ID == "" || t.ID != NewTaskID(t.Repo.ID, t.Issue):
		s.ignore("the record names no task of its repository and issue")
		return
	case !t.State.Final() || t.Pause != nil || t.Next != nil || t.Credits.Reserved != 0:
		s.ignore("only a task that has ended is restored")
		return
	}
	s.t = t
	s.t.Version += unrecorded
	s.t.Visible, s.t.Synced = s.t.Version, s.t.Version
	s.t.Pending, s.t.Seen, s.t.AwaitMemory, s.t.Gate = nil, []string{s.e.ID}, "", GateState{Seq: t.Gate.Seq + unrecorded}
	if f.Show {
		s.t.Synced = 0
		s.sync(true)
	}
	s.because("rebuilt from memory: %s, %s", text.Count(len(t.Attempts), "attempt"),
		text.Count(len(t.Interventions), "intervention"))
}

var keyVersion = regexp.MustCompile(`-v(\d+)`)

// MayHaveDecided reports whether a task that is restored from this record may have made the decision with an id. It
// has not if the id is of another task, or of an effect that the restored task may yet get.
func (t *Task) MayHaveDecided(id string) bool {
	if !strings.HasPrefix(id, string(t.ID)+"/") {
		return false
	}
	for _, v := range keyVersion.FindAllStringSubmatch(id, -1) {
		if n, err := strconv.ParseInt(v[1], 10, 64); err != nil || n > t.Version+unrecorded {
			return false
		}
	}
	return true
}
