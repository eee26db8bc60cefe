package sia

import "time"

// Intent is an event before its task and the person's permission are determined.
// Deliveries are converted to intents, and so are the findings of the periodic
// sweep of GitHub: both use the same intake.
type Intent struct {
	Installation int64
	Repo         Repo
	Refs         []string // it concerns the tasks with any of these refs; see Task.Refs
	Event        Event
	Permission   bool      // the person needs the permission of access.command_permission
	Bot          bool      // a bot did it; ignored unless access.bots names it
	Label        string    // the label that was added or removed
	Changed      time.Time // last change of the issue, pull request or comment, as a delivery reports it
	EditID       string    // the event gets this id if the comment was handled before this edit; empty: not an edit
	Words        string    // text to SIA without a command: the command that may have been meant, or "none"; else empty
	Teach        Teach     // what a person wants SIA to learn or forget; Event.Fact is the answer to it
}
