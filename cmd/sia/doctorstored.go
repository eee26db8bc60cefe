package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/setup"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/text"
)

// checkStored reports whether set-up has stored an app, whether that app is in use, and who can read its keys. It
// returns no finding if none is stored and another app is configured.
func checkStored(dir string, c app.Config) []doctorFinding {
	f := doctorFinding{What: "stored app"}
	path := filepath.Join(dir, setup.File)
	stored, ok, err := setup.Load(dir)
	switch {
	case err != nil:
		said := cli.ErrorText(err)
		advice := strings.LastIndex(said, "; ")
		f.Detail, f.Fix = said[:advice], said[advice+2:]
		return []doctorFinding{f}
	case !ok && c.GitHub.Named():
		return nil
	case !ok:
		f.Detail, f.Fix = "no app is configured, and none is stored", "run `sia setup`, or `sia serve` and open /setup"
		return []doctorFinding{f}
	}
	f.OK, f.Detail = true, stored.String()+", in "+path
	if c.GitHub.AppID != stored.ID {
		f.Weaker, f.Fix = true, "nothing, if --app-id is meant to name another app; else leave --app-id out"
		f.Detail += fmt.Sprintf("; it is not used, for app %d is configured", c.GitHub.AppID)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		f.OK, f.Weaker, f.Fix = false, false, "chmod 600 "+path
		f.Detail += ": others on this machine can read its keys"
	}
	return []doctorFinding{f}
}

// checkFree reports the free space of the server's folder, in bytes.
func checkFree(free int64) doctorFinding {
	f := doctorFinding{What: "disk", OK: true, Detail: fmt.Sprintf("%d MiB are free for the server's folder", free>>20)}
	if err := app.CheckFree(free); err != nil {
		f = failed(f.What, err, "delete what nobody needs there, or give --dir a larger disk: docs/operations.md, Size")
	}
	return f
}

// checkRunners reports whether runners are there to make attempts and to run tests, and how many attempts wait for one.
// On a server that makes attempts itself it reports only attempts that still wait.
func checkRunners(onRunners bool, all []store.Runner, offered []store.RunnerStanding, now time.Time) []doctorFinding {
	present, waiting, last, tests := 0, 0, "", false
	var seen time.Time
	for _, r := range all {
		if !r.Away(now) {
			present++
			tests = tests || r.Tests
		}
		if r.Seen.After(seen) {
			seen, last = r.Seen, fmt.Sprintf("; %s was seen last, at %s", r.Name, r.Seen.Local().Format(time.DateTime))
		}
	}
	for _, a := range offered {
		if a.Waits() && !a.Tests {
			waiting++
		}
	}
	waits := text.Count(waiting, "attempt") + " waiting for a runner"
	f := doctorFinding{What: "runners", OK: true}
	switch {
	case !onRunners && waiting == 0:
		return nil
	case present > 0:
		f.Detail = fmt.Sprintf("%d of %d are there; %s", present, len(all), waits)
		if !tests {
			f.Weaker, f.Detail, f.Fix = true, f.Detail+". None of them can run tests", "give one a sandbox: docs/sandbox.md"
		}
	case len(all) == 0:
		f.Detail, f.Fix = "there is none; "+waits, "`sia runner add NAME` adds one; docs/runners.md"
	default:
		f.Detail, f.Fix = fmt.Sprintf("all %d are away; %s%s", len(all), waits, last),
			"start `sia runner` on their machines, and look at its log"
	}
	if present == 0 {
		f.OK, f.Weaker = waiting == 0, waiting == 0
	}
	return []doctorFinding{f}
}

// checkSignIn reports whether users can sign in to the pages.
func checkSignIn(c app.Config) doctorFinding {
	f := doctorFinding{What: "sign-in", OK: true}
	switch {
	case c.SignsIn():
		f.Detail = "people sign in with GitHub at " + c.PublicURL
	case c.GitHub.ClientID == "" && c.PublicURL == "":
		f.Weaker, f.Detail = true, "off: the pages are for this machine alone"
		f.Fix = "set --client-id, --client-secret and --public-url, if people are to see them from elsewhere: docs/setup.md"
	case c.PublicURL == "":
		f.Weaker, f.Detail, f.Fix = true, "off: nobody knows at which address",
			"set --public-url to where people reach --listen"
	default:
		f.Weaker, f.Detail = true, "off at "+c.PublicURL+": the app's client id and secret are missing"
		f.Fix = "set --client-id and --client-secret: docs/setup.md"
	}
	return f
}
