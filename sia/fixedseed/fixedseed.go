// Package fixedseed makes the property tests of a package draw the same cases in each run, so that a run does not fail
// for a case that is unrelated to the change. Test files import it for its side effect:
//
//	import _ "github.com/sia-bot/sia/sia/fixedseed"
//
// The flag -rapid.seed overrides it, and SIA_SEEDS=new in the environment draws new cases, as `make explore` does.
// Only tests import it.
package fixedseed

import (
	"flag"
	"os"

	_ "pgregory.net/rapid" // defines the flag
)

func init() {
	if os.Getenv("SIA_SEEDS") == "new" {
		return
	}
	// Flags are parsed after this, so that the command line overrides it.
	if err := flag.Set("rapid.seed", "20261124"); err != nil {
		panic("the seed of property tests: " + err.Error())
	}
}
