package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/web/setup"
)

// checkStored reports whether set-up has stored an app, whether that app is in use, and who can read its keys. It
// returns no finding if none is stored and another app is configured.
func checkStored(dir string, c app.Config) []doctorFinding {
	f := doctorFinding{What: "stored app"}
	path := filepath.Join(dir, setup.File)
	stored, ok, err := setup.Load(dir)
	switch {
	case err != nil:
		f.Detail, f.Fix = err.Error(), "restore "+path+" from a backup, or move it away and run `sia setup`"
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
