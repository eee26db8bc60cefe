package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// Offer is a command that people can give now. Status comments name it, check runs and pages have a button for it, and
// the dashboard a box to tick.
type Offer struct {
	Name  string // such as "stop"; identifies its button or box
	Write string // as in a comment
	Does  string
}

// The names of offers that have a button or a box.
const (
	ActionPause       = "pause"
	ActionStop        = "stop"
	ActionRetry       = "retry"
	ActionResume      = "resume"
	ActionAcceptTests = "accept-tests"
	actionGo          = "go"
)

var buttons = map[string]string{ActionPause: "Pause", ActionStop: "Stop", ActionRetry: "Retry", ActionResume: "Resume",
	ActionAcceptTests: "Accept test changes"}

// Button is the text on the offer's button; empty: it has none.
func (o Offer) Button() string { return buttons[o.Name] }

var pause = Offer{ActionPause, "/sia pause", "holds the task where it is"}

// PageOffers lists the offers with a button on a task's page, where a task that asks something can be paused, too.
func PageOffers(t sia.Task) []Offer {
	all := slices.DeleteFunc(clicks(t), func(o Offer) bool { return o.Button() == "" })
	if t.State == sia.Escalated {
		all = slices.Insert(all, len(all)-1, pause) // before Stop
	}
	return all
}

// clicks lists the offers for a button or a box. Unlike the brief list of a comment, it has Pause while changes to
// tests wait for a person.
func clicks(t sia.Task) []Offer {
	all := Offers(t)
	if AwaitsTestAcceptance(t) {
		all = slices.Insert(all, len(all)-1, pause) // before Stop
	}
	return all
}

// Offers lists the commands that make sense in the task's state, most useful first.
func Offers(t sia.Task) []Offer {
	stop := Offer{ActionStop, "/sia stop", "ends the task and keeps what was done"}
	start := func(write, does string) []Offer { return []Offer{{"start", write, does}} }
	switch t.State {
	case sia.Escalated:
		if waitsForYes(t) {
			return []Offer{
				{actionGo, "/sia go", "starts the plan"},
				{"answer", "/sia answer …", "says what should be different, for another plan"},
				{ActionRetry, "/sia retry", "has another plan made"},
				stop,
			}
		}
		answers := "answers with a letter or in your own words"
		if t.AsksAboutChecks() {
			answers = "answers with a letter"
		}
		return []Offer{
			{"answer", "/sia answer …", answers},
			{ActionRetry, "/sia retry", "tries once more as it is"},
			stop,
		}
	case sia.OnHold:
		if outOfCredits(t) {
			return []Offer{{"credits", "/sia resume +50", "adds 50 credits (0.50 USD) and goes on"}, stop}
		}
		if t.Pause != nil && t.Pause.Kind == sia.PausedByHalt {
			if t.Pause.Scope != sia.RepositoryHalt(t.Repo.ID) || t.Pause.By.Operator {
				return []Offer{stop}
			}
			return []Offer{{"resume all", "/sia resume all", "goes on with everything in this repository"}, stop}
		}
		return []Offer{{ActionResume, "/sia resume", "goes on where it stopped"}, stop}
	case "": // there is no task yet
		return start("/sia start …", "asks SIA to resolve this issue, with your words as an additional wish")
	case sia.Passed:
		if t.Aftermath == sia.Abandoned {
			return start("/sia start", "starts it again")
		}
		if t.Edited != nil {
			return start("/sia start", "goes on with the new text")
		}
		return start("/sia start …", "runs the task again, with your words as an additional wish")
	case sia.Stopped:
		return []Offer{{ActionRetry, "/sia start", "starts it again"}}
	case sia.Reviewing, sia.Announced:
		return []Offer{pause, stop}
	case sia.Checking:
		if AwaitsTestAcceptance(t) {
			return []Offer{{ActionAcceptTests, "/sia accept-tests", "accepts these changes for this commit"}, stop}
		}
		return []Offer{pause, stop, {ActionRetry, "/sia retry", "reads the checks again now"}}
	}
	return []Offer{pause, stop, {"use", "/sia use <technique>", "chooses the next approach yourself"}}
}

// outOfCredits reports whether a paused task needs more credits to go on: it was paused for that, or has less than a
// credit left, which is what it takes to begin an attempt.
func outOfCredits(t sia.Task) bool { return t.NeedsCredits() || t.Credits.Left() < sia.Credit }

// commandLine lists what people can do now.
func commandLine(t sia.Task) string {
	var parts []string
	for _, c := range Offers(t) {
		parts = append(parts, Code(c.Write, 0)+" "+c.Does)
	}
	parts = append(parts, "`/sia help` lists every command")
	return fmt.Sprintf("**You can** comment, with %s access: %s.", permission(t), strings.Join(parts, "; "))
}

// briefCommands lists what people can do now, and describes the first command.
func briefCommands(t sia.Task) string {
	var parts []string
	for i, c := range Offers(t) {
		s := Code(c.Write, 0)
		if i == 0 {
			s += " (" + c.Does + ")"
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
