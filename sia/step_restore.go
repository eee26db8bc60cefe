package sia

import "github.com/sia-bot/sia/sia/text"

// unrecorded is how many events may have moved a task after its memory was last
// written. Effect keys carry the version, and what GitHub shows carries the keys
// of the task's first life: none may come up again.
const unrecorded = 1000

// restore takes a task over from its memory. It makes nothing true that was not:
// a task that is restored as passed did pass, by a green verdict that its record
// tells of, and nothing follows from saying so again.
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
