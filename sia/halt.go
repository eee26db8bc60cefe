package sia

import (
	"fmt"
	"strings"
)

// HaltScope names the scope of a pause of many tasks: "server", "installation 5",
// "repository 1005", or "suspended 5" for an installation that was suspended on GitHub.
type HaltScope string

// ServerHalt is the scope of all tasks of a server.
const ServerHalt HaltScope = "server"

// RepositoryHalt returns the scope of a repository.
func RepositoryHalt(repo int64) HaltScope { return HaltScope(fmt.Sprintf("repository %d", repo)) }

// InstallationHalt returns the scope of an installation.
func InstallationHalt(id int64) HaltScope { return HaltScope(fmt.Sprintf("installation %d", id)) }

// SuspensionHalt returns the scope of an installation that was suspended on GitHub.
func SuspensionHalt(id int64) HaltScope { return HaltScope(fmt.Sprintf("suspended %d", id)) }

// HaltScopes returns the scopes that contain the tasks of a repository.
func HaltScopes(installation, repo int64) []HaltScope {
	return []HaltScope{ServerHalt, SuspensionHalt(installation), InstallationHalt(installation), RepositoryHalt(repo)}
}

// halt pauses the task together with all others of a scope. If another halt has paused the
// task, this one replaces it; a pause by a person or a budget stays.
func (s *step) halt(f PauseAsked) {
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

// staysHalted refuses to resume a single task that is paused with its scope, and reports
// whether it did. It books the added credits nevertheless.
func (s *step) staysHalted(f Resume) bool {
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
		s.ignore("%s, so this task can't go on by itself; %s", p.Reason, p.Scope.LiftedBy(p.By.Operator))
	}
	return true
}

// NeedsCredits reports whether the task is paused until a person adds credits.
func (t *Task) NeedsCredits() bool {
	return t.State == OnHold && t.Pause != nil && t.Pause.Kind == PausedByCredits
}

// liftedBy describes for people how the pause ends.
func (p *Pause) liftedBy() string {
	switch {
	case p.Scope != "":
		return p.Scope.LiftedBy(p.By.Operator)
	case p.Kind == PausedByCredits:
		return "`/sia resume +50` adds 50 credits (0.50 USD) and goes on"
	}
	return "`/sia resume` goes on where it stopped"
}

// LiftedBy describes for people how a halt ends. operator says that the operator made it: then nobody else can lift
// that of a repository.
func (h HaltScope) LiftedBy(operator bool) string {
	switch {
	case h == ServerHalt:
		return "whoever runs the server lifts that with `sia resume --all`"
	case strings.HasPrefix(string(h), "installation "):
		return "whoever administers the installation lifts that on its page in SIA, and whoever runs the server with " +
			"`sia resume --installation`"
	case strings.HasPrefix(string(h), "suspended "):
		return "it goes on when an owner unsuspends the app's installation on GitHub"
	}
	if operator {
		return "whoever runs the server lifts that with `sia resume --repo`"
	}
	return "`/sia resume all` goes on with everything in this repository"
}
