package sia

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Settings are a repository's settings in force for a task: the content of
// .sia/config.yml on the base branch, with defaults filled in. Package
// sia/config reads them; [DefaultSettings] returns those without a file.
type Settings struct {
	Label   string `json:"label" yaml:"label" mask:"-"`
	Welcome bool   `json:"welcome" yaml:"welcome"` // propose settings to a new repository
	// the team to which the repository's costs are assigned; empty: none
	Team string `json:"team,omitempty" yaml:"team" mask:"-"`
	// keep an issue in the repository that shows SIA's work there
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

// UnmarshalJSON reads recorded settings. A setting that the record lacks, because an older version wrote it, gets its
// default, so that an update turns nothing off.
func (s *Settings) UnmarshalJSON(b []byte) error {
	type plain Settings // without this method
	p := plain(DefaultSettings())
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*s = Settings(p)
	return nil
}

// SIASettings configure interventions.
type SIASettings struct {
	MaxApproaches int  `json:"max_approaches" yaml:"max_approaches"` // distinct prompts, the original included; 1–20
	TriggerAfter  int  `json:"trigger_after" yaml:"trigger_after"`   // failed attempts before an intervention; 1–10
	Reviewer      bool `json:"reviewer" yaml:"reviewer"`
}

// AgentSettings configure attempts.
type AgentSettings struct {
	Kind string `json:"kind" yaml:"kind" mask:"-"` // builtin or command
	// kind command: a preset's name, or a shell command line
	Command string `json:"command,omitempty" yaml:"command"`
	// names of the server's environment variables that are passed to the command
	Env      []string `json:"env,omitempty" yaml:"env" mask:"-"`
	Timeout  Duration `json:"timeout" yaml:"timeout"`
	MaxTurns int      `json:"max_turns" yaml:"max_turns"`
	Plan     string   `json:"plan,omitempty" yaml:"plan" mask:"-"` // "" or [PlanApprove]
	Setup    []string `json:"setup,omitempty" yaml:"setup"`
	Test     string   `json:"test,omitempty" yaml:"test"`
	Services []string `json:"services,omitempty" yaml:"services"`

	// cost of a wrong interruption, in budgets of an attempt
	InterruptCost float64 `json:"interrupt_cost" yaml:"interrupt_cost"`
	// share of the interruptions that are skipped at random, 0–1
	Spare float64 `json:"spare" yaml:"spare"`
}

// PlanApprove makes every task begin with a plan that needs a person's approval
// ([AgentSettings.Plan]).
const PlanApprove = "approve"

// BudgetSettings are in whole credits (0.01 USD each).
type BudgetSettings struct {
	Task       int `json:"task" yaml:"task"`
	RepoPerDay int `json:"repo_per_day" yaml:"repo_per_day"`
	// limit for the sum over all repositories of the installation; each repository has its own setting
	InstallationPerDay int `json:"installation_per_day" yaml:"installation_per_day"`
	// value of a solved task; 0: Task if there is a choice of coders, else unlimited
	Value int `json:"value" yaml:"value"`
}

// ChecksSettings configure the gate.
type ChecksSettings struct {
	Required []string `json:"required,omitempty" yaml:"required" mask:"-"` // in addition to those of the branch's rules
	Settle   Duration `json:"settle" yaml:"settle"`                        // quiet time after the last check event
	// time without any check until a person is asked
	Wait Duration `json:"wait" yaml:"wait"`
	// time limit of the test runs for evidence; 0: no test is run
	Evidence  Duration `json:"evidence" yaml:"evidence"`
	Protected []string `json:"protected" yaml:"protected" mask:"-"` // globs in addition to [AlwaysProtected]

	// whether a red check is run again once before the attempt counts as failed
	Rerun      string  `json:"rerun" yaml:"rerun" mask:"-"`
	MinuteCost float64 `json:"minute_cost" yaml:"minute_cost"` // cost of a minute of a check, in credits
}

// Values of [ChecksSettings.Rerun]: when red checks that may be flaky are run again.
const (
	RerunAuto   = "auto" // if that costs less than it is expected to save
	RerunAlways = "always"
	RerunNever  = "never"
)

// ToolConfigFiles returns names of files and folders that configure, in any directory, what agents,
// editors, hooks and package managers run or connect to on other people's machines.
func ToolConfigFiles() []string {
	return []string{
		"AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".cursorrules", ".windsurfrules",
		".clinerules", ".claude", ".codex", ".gemini", ".cursor", ".opencode", "opencode.json", ".mcp.json",
		".aider.conf.yml", ".vscode", ".idea", ".zed", ".devcontainer", ".devcontainer.json",
		".husky", ".githooks", ".gitconfig", ".lefthook.yml", "lefthook.yml", ".pre-commit-config.yaml",
		".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "bunfig.toml", ".envrc", "pip.conf", ".mvn", ".cargo", ".bundle",
	}
}

// AlwaysProtected returns globs of files that no attempt may change without a person's
// approval, in addition to any settings: those of [ToolConfigFiles], and the configuration of CI and git.
func AlwaysProtected() []string {
	globs := []string{".github/**", ".sia/**", "CODEOWNERS", "docs/CODEOWNERS", "**/.gitattributes", ".gitmodules"}
	for _, name := range ToolConfigFiles() {
		globs = append(globs, "**/"+name, "**/"+name+"/**")
	}
	return globs
}

// Guarded returns the globs of all files that an attempt may not change without a person's approval.
func (c ChecksSettings) Guarded() []string { return append(AlwaysProtected(), c.Protected...) }

// ReviewSettings configure the review of a green change.
type ReviewSettings struct {
	Final bool     `json:"final" yaml:"final"` // a fresh reviewer compares it with the issue first
	Wait  Duration `json:"wait" yaml:"wait"`   // time to wait for more change requests before an attempt begins
}

// MemorySettings configure where memory is stored.
type MemorySettings struct {
	Branch string `json:"branch" yaml:"branch" mask:"-"`
}

// AccessSettings configure who may give commands.
type AccessSettings struct {
	// triage, write, maintain or admin; not read, which everybody has in a public repository
	CommandPermission string   `json:"command_permission" yaml:"command_permission" mask:"-"`
	Bots              []string `json:"bots,omitempty" yaml:"bots" mask:"-"` // logins of bots that may give commands
}

// Obeys reports whether a bot may give commands. GitHub's logins are case-insensitive.
func (a AccessSettings) Obeys(bot string) bool {
	return slices.ContainsFunc(a.Bots, func(b string) bool { return strings.EqualFold(b, bot) })
}

// Covers reports whether one of GitHub's repository roles includes the permissions of another.
// https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
func Covers(role, needs string) bool {
	rank := func(r string) int {
		return slices.Index([]string{"none", "read", "triage", "write", "maintain", "admin"}, r)
	}
	return rank(role) >= rank(needs)
}

// LearningSettings configure what is learned and shared.
type LearningSettings struct {
	Enabled         bool     `json:"enabled" yaml:"enabled"` // whether lessons are learned and used
	LessonsInPrompt int      `json:"lessons_in_prompt" yaml:"lessons_in_prompt"`
	MinConfidence   float64  `json:"min_confidence" yaml:"min_confidence"`
	LessonsPerDay   int      `json:"lessons_per_day" yaml:"lessons_per_day"` // learned from outcomes
	DecayDays       int      `json:"decay_days" yaml:"decay_days"`           // half-life of unused evidence, in days
	Heartbeat       Duration `json:"heartbeat" yaml:"heartbeat"`             // interval between two rankings of lessons
	Share           string   `json:"share" yaml:"share" mask:"-"`            // none or aggregate
}

// PolicySettings configure changes of the policies that the repository contains.
type PolicySettings struct {
	Autonomy string `json:"autonomy" yaml:"autonomy" mask:"-"` // off, propose or experiment
}

// Values of [PolicySettings.Autonomy]: what SIA may do about changes of policies.
const (
	AutonomyOff        = "off"        // propose none
	AutonomyPropose    = "propose"    // propose, and try nothing before a person approves
	AutonomyExperiment = "experiment" // automatically try changes that need no approval
)

// Duration is a time.Duration that is encoded as text such as "30s" or "15m".
type Duration time.Duration

// MarshalText formats d as time.Duration does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText parses the format of time.ParseDuration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return err
	}
	*d = Duration(v)
	return nil
}

// D returns d as a time.Duration.
func (d Duration) D() time.Duration { return time.Duration(d) }

// DefaultSettings returns the settings of a repository without a .sia/config.yml.
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
