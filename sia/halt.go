package sia

import (
	"fmt"
	"strings"
)

// HaltScope names what is paused as a whole, and by whom it can be: "server",
// "installation 5", "repository 1005", or "suspended 5" for an installation that GitHub
// suspended.
type HaltScope string

// ServerHalt is the scope of everything that a server works on.
const ServerHalt HaltScope = "server"

// RepositoryHalt is the scope of a repository.
func RepositoryHalt(repo int64) HaltScope { return HaltScope(fmt.Sprintf("repository %d", repo)) }

// InstallationHalt is the scope of an installation.
func InstallationHalt(id int64) HaltScope { return HaltScope(fmt.Sprintf("installation %d", id)) }

// SuspensionHalt is the scope of an installation that was suspended on GitHub.
func SuspensionHalt(id int64) HaltScope { return HaltScope(fmt.Sprintf("suspended %d", id)) }

// HaltScopes are the scopes that a task of a repository is in.
func HaltScopes(installation, repo int64) []HaltScope {
	return []HaltScope{ServerHalt, SuspensionHalt(installation), InstallationHalt(installation), RepositoryHalt(repo)}
}

// halted pauses the task together with all others of a scope. A task that another halt
// paused already is this one's from now on; what a person or a budget paused stays so.
func (s *step) halted(f PauseAsked) {
	if s.t.State != OnHold {
		s.hold(PausedByHalt, f.Reason)
		s.t.Pause.Scope = f.Scope
		return
	}
	if s.t.Pause.Scope == "" || s.t.Pause.Scope == f.Scope {
		s.ignore("the task is paused already")
		return
	}
	s.t.Pause.Scope, s.t.Pause.Reason, s.t.Pause.By = f.Scope, f.Reason, s.e.By
	s.because("still paused: %s", f.Reason)
}

// heldByHalt refuses to resume by itself what is paused as a part of something. Credits
// count all the same.
func (s *step) heldByHalt(f Resume) bool {
	p := s.t.Pause
	switch {
	case p.Scope == f.Scope:
		return false
	case f.Scope != "":
		s.ignore("something else paused the task")
	case f.Credits > 0:
		s.t.Credits.Budget += f.Credits
		s.because("%s added %s credits; the task stays paused: %s", s.who(), f.Credits, p.Reason)
	default:
		s.ignore("%s, so this task can't go on by itself; %s", p.Reason, p.Scope.LiftedBy())
	}
	return true
}

// LiftedBy says for people how a halt ends.
func (h HaltScope) LiftedBy() string {
	switch {
	case h == ServerHalt:
		return "whoever runs the server lifts that with `sia resume --all`"
	case strings.HasPrefix(string(h), "installation "):
		return "whoever administers the installation lifts that on its page in SIA, and whoever runs the server with " +
			"`sia resume --installation`"
	case strings.HasPrefix(string(h), "suspended "):
		return "it goes on when an owner unsuspends the app's installation on GitHub"
	}
	return "`/sia resume all` goes on with everything in this repository"
}
