package world

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/runner"
)

// startable reports whether an event with an actor may start workflows.
// https://docs.github.com/en/actions/concepts/security/github_token#when-github_token-triggers-workflow-runs
func startable(a model.Actor, event runner.Event) bool {
	switch a.Token {
	case model.SilentToken:
		return false
	case model.GitHubToken:
		action, _ := event.Payload["action"].(string)
		return event.Name == "pull_request" && slices.Contains([]string{"opened", "synchronize", "reopened"}, action)
	}
	return true
}

// The parts of a commit message that skip workflows.
// https://docs.github.com/en/actions/how-tos/manage-workflow-runs/skip-workflow-runs
var (
	skipWords   = []string{"[skip ci]", "[ci skip]", "[no ci]", "[skip actions]", "[actions skip]"}
	skipTrailer = regexp.MustCompile(`\n\nskip-checks: ?true\s*$`)
)

// skips reports whether the message of the head commit skips workflows. Only pushes and pull requests heed it.
func (w *World) skips(r *model.Repository, event runner.Event, head string) bool {
	if event.Name != "push" && event.Name != "pull_request" {
		return false
	}
	message := w.git.Facts(r.Dir, head).Message
	return skipTrailer.MatchString(message) ||
		slices.ContainsFunc(skipWords, func(word string) bool { return strings.Contains(message, word) })
}
