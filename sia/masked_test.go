package sia

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia/secret/secrettest"
)

// stay contains the strings of events and tasks that are not masked, by reason:
// "Type.Field", or a string type.
var stay = map[string][]string{
	"one of a few words": {
		"Aftermath", "AttemptEnd", "AttemptOutcome", "CheckColour", "EffectKind", "EscalationKind", "GateVerdict",
		"Pattern", "PauseKind", "PolicySettings.Autonomy", "SignalName", "State", "Structure", "Verdict",
		"CheckFailure.Class", "Query.Topic", "Racer.Coder", "DemandState", "RemarkKind",
		"AnswerGiven.Letter", "Answer.Letter", "Option.Letter", "Edits.Format", "Part.Coder", "Part.Failed", "PartKind",
		"PartState", "DecisionType", "LedgerKind",
	},
	"an id or a key that code makes, and finds things by": {
		"TaskID", "Event.ID", "Event.Effect", "Effect.Key", "Effect.TargetKey", "HaltScope", "Task.AwaitMemory", "Task.Seen",
		"Task.Dropped", "Diagnosis.DecisionID", "LessonRef.ID", "Begun.Withheld", "Attempt.LessonsShown",
		"Attempt.LessonsWithheld", "ToolLesson.ID", "AttemptEnded.LessonsShown", "AttemptEnded.LessonsWithheld",
		"Wish.ID", "Asked.Wishes", "Asked.Rest", "Owed.Key", "EffectDelayed.Key",
		"CheckReset.By", "CheckRun.Class", "Decided.Decision", "Opening.LessonsShown", "Opening.LessonsWithheld",
	},
	"the id of a technique in the library: letters, digits and hyphens": {"TechniqueID"},
	"a commit": {"SHA"},
	"a hash":   {"Attempt.PromptHash", "Prompt.Hash", "Opening.Hash", "CheckFailure.Signature"},
	"a name that GitHub or git knows something by, which nothing would be found by any more": {
		"Actor.Login", "Effect.To", "Repo.Owner", "Repo.Name", "Task.Author", "Task.Access", "Begun.Author", "Begun.Access",
		"Start.DefaultBranch", "Begun.BaseBranch", "Task.BaseBranch", "Task.Branch", "Start.Label", "Task.Label",
		"Begun.Labels", "Task.Labels", "Said.By", "Thread.Path", "Found.Base", "Retargeted.Base", "Reported.Event",
	},
	"an id or an address that GitHub makes": {
		"PullOpened.NodeID", "PullOpened.URL", "PullReopened.NodeID", "PullReopened.URL",
		"Pull.NodeID", "Pull.URL", "CommentPosted.URL", "EscalationOpened.URL",
		"Already.URL", "ClaimCheck.URL", "Escalation.URL", "Intervention.CommentURL", "Fix.PullURL",
		"FinalReview.URL",
	},
	"the names of a file and its commit, put together by code": {"Begun.SettingsFrom", "Task.SettingsFrom"},
	"the name of a coder in the server's configuration":        {"Decided.Choice", "Attempt.Coder"},
	"the name of a tool that the agent has":                    {"Brief.Tools", "Brief.WithoutTools"},
	"a setting that is one of a few words, or compared with names": {
		"Settings.Label", "Settings.Team", "AgentSettings.Kind", "AgentSettings.Plan", "AgentSettings.Env",
		"ChecksSettings.Required",
		"ChecksSettings.Protected", "ChecksSettings.Rerun", "MemorySettings.Branch", "AccessSettings.CommandPermission",
		"AccessSettings.Bots", "LearningSettings.Share",
	},
}

// Every string that can contain external text is masked in every fact and in a task,
// and no other string.
func TestMasked(t *testing.T) {
	stayed := secrettest.Unmasked(t, Task{}, func(v Task) Task { return Masked(v, secrettest.Mask) })
	for _, f := range facts {
		stayed = append(stayed, secrettest.Unmasked(t, f, func(v Fact) Fact { return Masked(v, secrettest.Mask) })...)
	}
	event := func(v Event) Event { return Masked(v, secrettest.Mask) }
	stayed = append(stayed, secrettest.Unmasked(t, Event{}, event)...)
	listed := slices.Concat(slices.Collect(maps.Values(stay))...)
	slices.Sort(listed)
	slices.Sort(stayed)
	if d := cmp.Diff(listed, slices.Compact(stayed)); d != "" {
		t.Errorf("what stays is not what is listed: -listed +stays\n%s", d)
	}
	use := Masked(Use{Technique: "secret"}, secrettest.Mask) // any word, not only a technique of the library
	if use.Technique != "masked" || Masked(Task{Wanted: "secret"}, secrettest.Mask).Wanted != "masked" {
		t.Error("the technique that a person asks for is not masked")
	}
	said := Masked(Event{Fact: Stop{Reason: "the secret"}}, secrettest.Mask)
	if got := said.Fact.(Stop).Reason; got != "the masked" {
		t.Errorf("an event's fact says %q", got)
	}
}
