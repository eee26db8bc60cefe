package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// command is a command that people can give now, with its effect.
type command struct{ write, does string }

// commands lists the commands that make sense in the task's state, most useful first.
func commands(t sia.Task) []command {
	stop := command{"/sia stop", "ends the task and keeps what was done"}
	pause := command{"/sia pause", "holds the task where it is"}
	use := command{"/sia use <technique>", "chooses the next approach yourself"}
	switch t.State {
	case sia.Escalated:
		if waitsForYes(t) {
			return []command{
				{"/sia go", "starts the plan"},
				{"/sia answer …", "says what should be different, for another plan"},
				{"/sia retry", "has another plan made"},
				stop,
			}
		}
		answers := "answers with a letter or in your own words"
		if t.AsksAboutChecks() {
			answers = "answers with a letter"
		}
		return []command{
			{"/sia answer …", answers},
			{"/sia retry", "tries once more as it is"},
			stop,
		}
	case sia.OnHold:
		if outOfCredits(t) {
			return []command{{"/sia resume +50", "adds 50 credits (0.50 USD) and goes on"}, stop}
		}
		if t.Pause != nil && t.Pause.Kind == sia.PausedByHalt {
			if t.Pause.Scope != sia.RepositoryHalt(t.Repo.ID) {
				return []command{stop}
			}
			return []command{{"/sia resume all", "goes on with everything in this repository"}, stop}
		}
		return []command{{"/sia resume", "goes on where it stopped"}, stop}
	case "": // there is no task yet
		return []command{{"/sia start …", "asks SIA to resolve this issue, with your words as an additional wish"}}
	case sia.Passed:
		if t.Aftermath == sia.Abandoned {
			return []command{{"/sia start", "starts it again"}}
		}
		if t.Edited != nil {
			return []command{{"/sia start", "goes on with the new text"}}
		}
		return []command{{"/sia start …", "runs the task again, with your words as an additional wish"}}
	case sia.Stopped:
		return []command{{"/sia start", "starts it again"}}
	case sia.Reviewing, sia.Announced:
		return []command{pause, stop}
	case sia.Checking:
		if AwaitsTestAcceptance(t) {
			return []command{{"/sia accept-tests", "accepts these changes for this commit"}, stop}
		}
		return []command{pause, stop, {"/sia retry", "reads the checks again now"}}
	}
	return []command{pause, stop, use}
}

// outOfCredits reports whether a paused task needs more credits to go on: it was paused for that, or has less than a
// credit left, which is what it takes to begin an attempt.
func outOfCredits(t sia.Task) bool { return t.NeedsCredits() || t.Credits.Left() < sia.Credit }

// commandLine lists what people can do now.
func commandLine(t sia.Task) string {
	var parts []string
	for _, c := range commands(t) {
		parts = append(parts, Code(c.write, 0)+" "+c.does)
	}
	parts = append(parts, "`/sia help` lists every command")
	return fmt.Sprintf("**You can** comment, with %s access: %s.", permission(t), strings.Join(parts, "; "))
}

// briefCommands lists what people can do now, and describes the first command.
func briefCommands(t sia.Task) string {
	var parts []string
	for i, c := range commands(t) {
		s := Code(c.write, 0)
		if i == 0 {
			s += " (" + c.does + ")"
		}
		parts = append(parts, s)
	}
	return "**You can** comment " + strings.Join(parts, ", ") + " or `/sia help`."
}

// permission names the repository permission that commands require.
func permission(t sia.Task) string {
	if p := t.Settings.Access.CommandPermission; p != "" {
		return Line(p, 20)
	}
	return sia.DefaultSettings().Access.CommandPermission
}
