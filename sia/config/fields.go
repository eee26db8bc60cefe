package config

import (
	"reflect"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// Path is the path of the settings file in a repository.
const Path = ".sia/config.yml"

// Form is the type of a setting's value.
type Form string

// The forms.
const (
	Bool     Form = "true or false"
	Int      Form = "whole number"
	Number   Form = "number"
	Duration Form = "duration"
	Text     Form = "text"
	Word     Form = "one of"
	Texts    Form = "list"
)

// Field is one setting.
type Field struct {
	Path     string   // with dots, such as "checks.settle"
	Form     Form     // type of the value
	Min, Max float64  // bounds of numbers, of durations in seconds, of texts in characters; inclusive
	Words    []string // possible values of a Word
	Doc      string   // description
}

// in returns the field of s for the setting: each key of the path is a yaml tag. A test checks that it exists.
func (f Field) in(s *sia.Settings) reflect.Value {
	v := reflect.ValueOf(s).Elem()
	for key := range strings.SplitSeq(f.Path, ".") {
		for field, value := range v.Fields() {
			if field.Tag.Get("yaml") == key {
				v = value
				break
			}
		}
	}
	return v
}

// Value returns the setting's value in s: a bool, int, float64, string, []string or
// sia.Duration.
func (f Field) Value(s sia.Settings) any { return f.in(&s).Interface() }

const (
	maxText     = 200  // characters of a text
	maxFile     = 64e3 // bytes
	hourSeconds = 3600.0
)

// Fields returns every setting, in the order of the file.
func Fields() []Field {
	return []Field{
		{Path: "label", Form: Text, Min: 1, Max: 50, Doc: "The label that asks SIA to resolve an issue."},
		{Path: "welcome", Form: Bool, Doc: "Whether a repository that the app is newly installed on, and that has no " +
			"settings of its own, gets some proposed in a pull request, once. It counts in the owner's .github repository."},
		{Path: "team", Form: Text, Max: 50, Doc: "The team that costs are counted for, as the page of costs shows them. A " +
			"task counts for the team that is named when its attempt begins."},
		{Path: "dashboard", Form: Bool, Doc: "Whether SIA keeps an issue in the repository that shows what waits " +
			"for people, " +
			"what is under way and what it costs, with boxes to tick that give commands. Closing it has it left alone."},

		{Path: "sia.max_approaches", Form: Int, Min: 1, Max: 20, Doc: "How many distinct prompts may be tried on a task, " +
			"the original included, before a person is asked."},
		{Path: "sia.trigger_after", Form: Int, Min: 1, Max: 10, Doc: "How many attempts fail before SIA steps in; until " +
			"then the same approach is simply tried again."},
		{Path: "sia.reviewer", Form: Bool, Doc: "Whether an independent model call reviews each diagnosis before it is " +
			"acted on."},

		{Path: "agent.kind", Form: Word, Words: []string{"builtin", "command"}, Doc: "The coding agent: SIA's own, or a " +
			"command that runs in the sandbox (docs/agents.md)."},
		{Path: "agent.command", Form: Text, Max: 2000, Doc: "With the kind `command`: `claude-code`, `codex`, `opencode`, " +
			"`aider`, or a shell command line that reads the brief from its standard input and changes the files of the " +
			"folder it starts in."},
		{Path: "agent.env", Form: Texts, Max: maxText, Doc: "Names of the server's environment variables that the command " +
			"gets; only those count that the server allows with `--agent-env`."},
		{Path: "agent.timeout", Form: Duration, Min: 1, Max: 6 * hourSeconds,
			Doc: "How long an attempt may take; at the limit " +
				"its work in progress is kept and the next attempt goes on from there."},
		{Path: "agent.max_turns", Form: Int, Min: 1, Max: 500, Doc: "How many turns the model has in an attempt."},
		{Path: "agent.plan", Form: Word, Words: []string{"", sia.PlanApprove}, Doc: "With `approve`, every task begins " +
			"with a plan in a comment: nothing is done before somebody approves it with a 👍 or `/sia go`."},
		{Path: "agent.setup", Form: Texts, Max: 2000, Doc: "Shell commands that prepare the work tree, run in the sandbox " +
			"before the agent starts."},
		{Path: "agent.test", Form: Text, Max: 2000, Doc: "The shell command with which the agent tests its work. It " +
			"informs the agent; only the repository's checks decide."},
		{Path: "agent.services", Form: Texts, Max: 200, Doc: "Images of services that tests need beside those that the " +
			"workflows name, such as `redis:7`, each at its usual port; see [sandbox.md](sandbox.md#services)."},

		{Path: "agent.interrupt_cost", Form: Number, Min: 0, Max: 100, Doc: "What interrupting an attempt wrongly costs, " +
			"beside the work that is lost, in budgets of an attempt. An attempt is interrupted when it is likely enough to " +
			"get nowhere that stopping costs less than going on; the larger the number, the more patient SIA is, and with 0 " +
			"it predicts nothing. Endless repetition is interrupted in any case."},
		{Path: "agent.spare", Form: Number, Min: 0, Max: 1, Doc: "The share of these interruptions that are not made, so " +
			"that SIA learns what would have become of the attempt."},

		{Path: "budget.task", Form: Int, Min: 1, Max: 1e6, Doc: "Credits that a task may spend before it pauses (1 credit " +
			"= 0.01 USD)."},
		{Path: "budget.repo_per_day", Form: Int, Min: 1, Max: 1e6, Doc: "Credits that the tasks of this repository may " +
			"spend together in a day."},

		{Path: "budget.installation_per_day", Form: Int, Min: 1, Max: 1e7, Doc: "Credits that the tasks of all " +
			"repositories of the installation may have spent together in a day for another attempt to begin in this one; best " +
			"set for all of them in the owner's .github repository."},

		{Path: "budget.value", Form: Int, Min: 0, Max: 1e6,
			Doc: "Value of a solved task, in credits. When for every coder that is left the expected cost of a success " +
				"exceeds it, the task pauses and says so. With 0 it is the task's budget where several coders can work, and " +
				"there is no such limit where one can."},

		{Path: "checks.required", Form: Texts, Max: maxText, Doc: "Names of checks that must be green, besides those that " +
			"the branch's rules require. Where neither says anything, every check that ran must be."},
		{Path: "checks.settle", Form: Duration, Min: 0, Max: hourSeconds,
			Doc: "Quiet time after the last change of a check " +
				"before the checks are judged, because checks are created late."},
		{Path: "checks.wait", Form: Duration, Min: 0, Max: 24 * hourSeconds,
			Doc: "How long to wait for a first check before a " +
				"person is asked."},
		{Path: "checks.evidence", Form: Duration, Min: 0, Max: hourSeconds,
			Doc: "How long SIA may run the tests that a change can reach, in its sandbox, beside the checks: on the base, on " +
				"the change, and on the change with the base's tests. It begins with the checks, and a pass waits for it no " +
				"longer than that. With `0s`, or without a sandbox, tests are judged by the text of what was changed: " +
				"`docs/rules.md#tampering`."},
		{Path: "checks.protected", Form: Texts, Max: maxText, Doc: "Globs of more files that an attempt may not change " +
			"unless a person accepts it. Some always are: `docs/rules.md#tampering` lists them."},

		{Path: "checks.rerun", Form: Word, Words: []string{sia.RerunAuto, sia.RerunAlways, sia.RerunNever},
			Doc: "Whether a red check is run again once on the same commit before the attempt is blamed. With `auto` it is " +
				"when the chance that it failed by accident, learned from how often it went red and green on one commit, is " +
				"worth the cost. Weather, such as a lost runner, is run again in any case."},
		{Path: "checks.minute_cost", Form: Number, Min: 0, Max: 1000, Doc: "Credits that a minute of a check costs, to " +
			"weigh a re-run against another attempt; GitHub's own Linux runners cost about 0.8. With 0, red checks are always " +
			"run again once."},

		{Path: "review.final", Form: Bool, Doc: "Whether, before a green pull request is marked ready, an independent " +
			"model call reads the final change against the issue and reviews it where there is something to say: demands that " +
			"are not met, changes that none of them needs, and what matters of security, tests and interfaces. Demands " +
			"that are not met start one more attempt. Whether a change passes is decided by the checks alone."},
		{Path: "review.wait", Form: Duration, Min: 0, Max: hourSeconds, Doc: "How long SIA waits for more, after somebody " +
			"asked for changes on its pull request, before an attempt begins with all of it: several reviews are one attempt. " +
			"Five times as long after the first at most."},

		{Path: "memory.branch", Form: Text, Min: 1, Max: maxText, Doc: "The branch on which SIA keeps what it learned."},

		{Path: "access.command_permission", Form: Word, Words: []string{"triage", "write", "maintain", "admin"},
			Doc: "The permission that a person needs for SIA to obey."},
		{Path: "access.bots", Form: Texts, Max: maxText, Doc: "Logins of bots that SIA obeys as it does people, such as " +
			"`renovate[bot]`. They can't accept changes of tests."},

		{Path: "learning.enabled", Form: Bool, Doc: "Whether lessons are learned and used. When off, nothing is learned, " +
			"looked up or used, and what was learned stays as it is."},
		{Path: "learning.lessons_in_prompt", Form: Int, Min: 0, Max: 20, Doc: "The most lessons from earlier tasks that " +
			"an attempt's prompt may hold."},
		{Path: "learning.min_confidence", Form: Number, Min: 0, Max: 1, Doc: "The confidence that a lesson needs to be " +
			"told; one that has not been tried yet has 0.5."},
		{Path: "learning.lessons_per_day", Form: Int, Min: 0, Max: 1000, Doc: "How many lessons are learned from attempts " +
			"in a day at most; what people teach comes beside them."},
		{Path: "learning.decay_days", Form: Int, Min: 1, Max: 3650, Doc: "Days without evidence about a lesson after which " +
			"what is counted for and against it begins to fade, and in which it then halves."},
		{Path: "learning.heartbeat", Form: Duration, Min: hourSeconds, Max: 30 * 24 * hourSeconds, Doc: "How often the " +
			"lessons of a repository that is not at work are put in order; a look is taken every hour."},
		{Path: "learning.share", Form: Word, Words: []string{"none", "aggregate"},
			Doc: "Whether `sia priors export` may count what worked here, never text or names, for other installations to " +
				"learn from: docs/sharing.md."},

		{Path: "policies.autonomy", Form: Word,
			Words: []string{sia.AutonomyOff, sia.AutonomyPropose, sia.AutonomyExperiment},
			Doc: "What SIA does about policies kept in this repository where it sees room for a better one: nothing, propose " +
				"a change in a pull request and wait for a 👍, or try it at once on half of the tasks. What decides whether " +
				"people are asked always waits. Best set in the owner's .github repository (docs/evolution.md)."},
	}
}

// sectionDocs returns the sections' names in order, each with its description.
func sectionDocs() [][2]string {
	return [][2]string{
		{"sia", "When SIA steps in and how often."},
		{"agent", "The coding agent and its limits."},
		{"budget", "What may be spent."},
		{"checks", "What decides whether an attempt is right."},
		{"review", "What people read about a green change, and how their answers count."},
		{"memory", "Where SIA remembers."},
		{"access", "Who is obeyed."},
		{"learning", "What is learned and shared."},
		{"policies", "How policies are changed."},
	}
}
