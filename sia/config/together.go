package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/yamlfile"
)

// envName matches the name of an environment variable.
var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// workBranches are common names of branches that people work on; memory must not use them.
var workBranches = []string{"main", "master", "trunk", "develop", "dev", "gh-pages", "HEAD"}

// stateLabels is the beginning of the labels that SIA puts on issues for their states.
const stateLabels = "sia:"

// checkCombinations checks constraints that involve several settings.
func checkCombinations(settings sia.Settings, file *yamlfile.File) {
	at := func(path, format string, args ...any) { file.Note(path, "", format, args...) }
	a := settings.Agent
	switch {
	case a.Kind == "command" && strings.TrimSpace(a.Command) == "":
		at("agent.kind", "the kind `command` needs agent.command: the name of an agent, or a shell command line")
	case a.Kind != "command" && a.Command != "":
		at("agent.command", "it counts only with `agent.kind: command`; write that, too, or leave the command out")
	}
	if a.Kind != "command" && len(a.Env) > 0 {
		at("agent.env", "it counts only with `agent.kind: command`; write that, too, or leave the names out")
	}
	for _, name := range a.Env {
		if !envName.MatchString(name) {
			at("agent.env", "%q is no name of an environment variable: want letters, digits and underscores, such as API_KEY",
				name)
		}
	}
	if strings.HasPrefix(strings.ToLower(settings.Label), stateLabels) {
		at("label", "labels that begin with %s show the state of an issue; choose another name, such as sia", stateLabels)
	}
	if b := settings.Memory.Branch; b != "" {
		switch {
		case slices.Contains(workBranches, b):
			at("memory.branch", "`%s` is a branch that people work on; memory needs one of its own, such as sia/memory", b)
		case strings.HasPrefix(b, "sia/issue-"):
			at("memory.branch", "branches of that name hold the work on issues; memory needs one of its own, such as sia/memory")
		}
	}
}
