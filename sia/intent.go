package sia

import "time"

// Intent is an event before it is known which task it concerns and whether the
// person may cause it. A delivery becomes intents, and so does what the periodic
// look at GitHub finds: both go through the same intake.
type Intent struct {
	Installation int64
	Repo         Repo
	Refs         []string // the tasks that any of these name are concerned; see Task.Refs
	Event        Event
	Permission   bool      // the person needs the permission that access.command_permission names
	Bot          bool      // a bot did it; ignored unless access.bots names it
	Label        string    // that was put on or taken off
	Changed      time.Time // when the issue or pull request had last changed, as a delivery shows it
	Anew         string    // the event's id where a comment was heard before it was edited; empty: it was not edited
	Words        string    // of words to SIA that are no command: which one may have been meant, or "none"; else empty
	Teach        Teach     // what a person wants remembered or forgotten; Event.Fact is the answer to it
}
