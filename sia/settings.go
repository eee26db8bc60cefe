package sia

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Settings are a repository's settings in force for a task: the content of
// .sia/config.yml on the base branch, with defaults filled in. Package
// sia/config reads them; [DefaultSettings] are what holds without a file.
type Settings struct {
	Label   string `json:"label" yaml:"label" mask:"-"`
	Welcome bool   `json:"welcome" yaml:"welcome"` // whether a new repository gets settings proposed
	// the team that the repository's costs are counted for; empty: none
	Team string `json:"team,omitempty" yaml:"team" mask:"-"`
	// whether the repository has an issue that shows what SIA does there
	Dashboard bool             `json:"dashboard" yaml:"dashboard"`
	SIA       SIASettings      `json:"sia" yaml:"sia"`
	Agent     AgentSettings    `json:"agent" yaml:"agent"`
	Budget    BudgetSettings   `json:"budget" yaml:"budget"`
	Checks    ChecksSettings   `json:"checks" yaml:"checks"`
	Review    ReviewSettings   `json:"review" yaml:"review"`
	Memory    MemorySettings   `json:"memory" yaml:"memory"`
	Access    AccessSettings   `json:"access" yaml:"access"`
	Learning  LearningSettings `json:"learning" yaml:"learning"`
	Policies  PolicySettings   `json:"policies" yaml:"policies"`
}

// UnmarshalJSON reads settings that were recorded, which may be older than some of them: what a record does not name
// has its default. So an update turns nothing off.
func (s *Settings) UnmarshalJSON(b []byte) error {
	type plain Settings // without this method
	p := plain(DefaultSettings())
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*s = Settings(p)
	return nil
}

// SIASettings govern interventions.
type SIASettings struct {
	MaxApproaches int  `json:"max_approaches" yaml:"max_approaches"` // distinct prompts, the original included; 1–20
	TriggerAfter  int  `json:"trigger_after" yaml:"trigger_after"`   // failed attempts before SIA steps in; 1–10
	Reviewer      bool `json:"reviewer" yaml:"reviewer"`
}

// AgentSettings govern attempts.
type AgentSettings struct {
	Kind string `json:"kind" yaml:"kind" mask:"-"` // builtin or command
	// of the kind command: a preset's name, or a shell command line
	Command string `json:"command,omitempty" yaml:"command"`
	// names of variables of the server's environment that the command gets
	Env      []string `json:"env,omitempty" yaml:"env" mask:"-"`
	Timeout  Duration `json:"timeout" yaml:"timeout"`
	MaxTurns int      `json:"max_turns" yaml:"max_turns"`
	Plan     string   `json:"plan,omitempty" yaml:"plan" mask:"-"` // "" or [PlanApprove]
	Setup    []string `json:"setup,omitempty" yaml:"setup"`
	Test     string   `json:"test,omitempty" yaml:"test"`
	Services []string `json:"services,omitempty" yaml:"services"`

	// of a wrong interruption, in budgets of an attempt
	InterruptCost float64 `json:"interrupt_cost" yaml:"interrupt_cost"`
	// share of the interruptions that are not made, 0–1
	Spare float64 `json:"spare" yaml:"spare"`
}

// PlanApprove has every task begin with a plan that waits for a person's yes
// ([AgentSettings.Plan]).
const PlanApprove = "approve"

// BudgetSettings are in whole credits (0.01 USD each).
type BudgetSettings struct {
	Task       int `json:"task" yaml:"task"`
	RepoPerDay int `json:"repo_per_day" yaml:"repo_per_day"`
	// of all repositories of the installation together, as each of them sees it
	InstallationPerDay int `json:"installation_per_day" yaml:"installation_per_day"`
	// the value of a solved task; 0: a task's budget where there is a choice of coders, else whatever it costs
	Value int `json:"value" yaml:"value"`
}

// ChecksSettings govern the gate.
type ChecksSettings struct {
	Required []string `json:"required,omitempty" yaml:"required" mask:"-"` // added to what the branch's rules require
	Settle   Duration `json:"settle" yaml:"settle"`                        // quiet time after the last check event
	// without any check at all, then a person is asked
	Wait Duration `json:"wait" yaml:"wait"`
	// how long tests are run for evidence; 0: they are not
	Evidence  Duration `json:"evidence" yaml:"evidence"`
	Protected []string `json:"protected" yaml:"protected" mask:"-"` // globs of more than [AlwaysProtected]

	// whether a red check is run again once before the attempt is blamed
	Rerun      string  `json:"rerun" yaml:"rerun" mask:"-"`
	MinuteCost float64 `json:"minute_cost" yaml:"minute_cost"` // credits that a minute of a check costs
}

// When red checks are run again for doubt ([ChecksSettings.Rerun]).
const (
	RerunAuto   = "auto" // when that costs less than it may save
	RerunAlways = "always"
	RerunNever  = "never"
)

// Steering are names of files and folders that, wherever they lie, tell agents, editors,
// hooks and package managers what to run or whom to ask, on the machines of others.
func Steering() []string {
	return []string{
		"AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".cursorrules", ".windsurfrules",
		".clinerules", ".claude", ".codex", ".gemini", ".cursor", ".opencode", "opencode.json", ".mcp.json",
		".aider.conf.yml", ".vscode", ".idea", ".zed", ".devcontainer", ".devcontainer.json",
		".husky", ".githooks", ".gitconfig", ".lefthook.yml", "lefthook.yml", ".pre-commit-config.yaml",
		".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "bunfig.toml", ".envrc", "pip.conf", ".mvn", ".cargo", ".bundle",
	}
}

// AlwaysProtected are globs of files that no attempt changes without a person's yes,
// whatever the settings say: those of [Steering], and what tells CI and git what to do.
func AlwaysProtected() []string {
	globs := []string{".github/**", ".sia/**", "CODEOWNERS", "docs/CODEOWNERS", "**/.gitattributes", ".gitmodules"}
	for _, name := range Steering() {
		globs = append(globs, "**/"+name, "**/"+name+"/**")
	}
	return globs
}

// Guarded are the globs of all files that an attempt may not change without a person's yes.
func (c ChecksSettings) Guarded() []string { return append(AlwaysProtected(), c.Protected...) }

// ReviewSettings govern what people see of a change when it is green.
type ReviewSettings struct {
	Final bool     `json:"final" yaml:"final"` // a fresh reviewer reads it against the issue first
	Wait  Duration `json:"wait" yaml:"wait"`   // for more that people ask for, before an attempt begins with it
}

// MemorySettings say where memory is kept.
type MemorySettings struct {
	Branch string `json:"branch" yaml:"branch" mask:"-"`
}

// AccessSettings say who is obeyed.
type AccessSettings struct {
	// triage, write, maintain or admin: in a public repository everybody may read
	CommandPermission string   `json:"command_permission" yaml:"command_permission" mask:"-"`
	Bots              []string `json:"bots,omitempty" yaml:"bots" mask:"-"` // bot logins that are not ignored
}

// Obeys reports whether a bot of that login is obeyed. GitHub's logins don't differ by case.
func (a AccessSettings) Obeys(bot string) bool {
	return slices.ContainsFunc(a.Bots, func(b string) bool { return strings.EqualFold(b, bot) })
}

// Covers reports whether one of GitHub's roles in a repository lets somebody do what takes another.
// https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
func Covers(role, needs string) bool {
	rank := func(r string) int {
		return slices.Index([]string{"none", "read", "triage", "write", "maintain", "admin"}, r)
	}
	return rank(role) >= rank(needs)
}

// LearningSettings govern what is learned and shared.
type LearningSettings struct {
	Enabled         bool     `json:"enabled" yaml:"enabled"` // whether lessons are learned and used
	LessonsInPrompt int      `json:"lessons_in_prompt" yaml:"lessons_in_prompt"`
	MinConfidence   float64  `json:"min_confidence" yaml:"min_confidence"`
	LessonsPerDay   int      `json:"lessons_per_day" yaml:"lessons_per_day"` // learned from outcomes
	DecayDays       int      `json:"decay_days" yaml:"decay_days"`           // idle, until evidence fades; its half-life
	Heartbeat       Duration `json:"heartbeat" yaml:"heartbeat"`             // between two orderings of lessons
	Share           string   `json:"share" yaml:"share" mask:"-"`            // none or aggregate
}

// PolicySettings govern changes of policies that are kept in the repository.
type PolicySettings struct {
	Autonomy string `json:"autonomy" yaml:"autonomy" mask:"-"` // off, propose or experiment
}

// What SIA may do about changes of policies ([PolicySettings.Autonomy]).
const (
	AutonomyOff        = "off"        // propose none
	AutonomyPropose    = "propose"    // propose, and wait for a person before anything is tried
	AutonomyExperiment = "experiment" // try by itself what no person has to approve
)

// Duration is a time.Duration that reads and prints as "30s" or "15m".
type Duration time.Duration

// MarshalText prints like time.Duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return err
	}
	*d = Duration(v)
	return nil
}

// D is d as a time.Duration.
func (d Duration) D() time.Duration { return time.Duration(d) }

// DefaultSettings are the settings of a repository without a .sia/config.yml.
func DefaultSettings() Settings {
	return Settings{
		Label: "sia", Welcome: true,
		SIA: SIASettings{MaxApproaches: 5, TriggerAfter: 1, Reviewer: true},
		Agent: AgentSettings{Kind: "builtin", Timeout: Duration(30 * time.Minute), MaxTurns: 60, InterruptCost: 1,
			Spare: 0.1},
		Budget: BudgetSettings{Task: 100, RepoPerDay: 1000, InstallationPerDay: 5000},
		Checks: ChecksSettings{Settle: Duration(30 * time.Second), Wait: Duration(15 * time.Minute),
			Evidence: Duration(10 * time.Minute),
			Rerun:    RerunAuto, MinuteCost: 0.8},
		Review: ReviewSettings{Final: true, Wait: Duration(time.Minute)},
		Memory: MemorySettings{Branch: "sia/memory"},
		Access: AccessSettings{CommandPermission: "write"},
		Learning: LearningSettings{Enabled: true, LessonsInPrompt: 5, MinConfidence: 0.5, LessonsPerDay: 50, DecayDays: 30,
			Heartbeat: Duration(6 * time.Hour), Share: "none"},
		Policies: PolicySettings{Autonomy: AutonomyPropose},
	}
}
