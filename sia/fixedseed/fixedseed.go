// Package fixedseed makes the property tests of a package draw the same cases in each run, so that nobody's run is red
// for something that they did not do. Test files import it for that alone:
//
//	import _ "github.com/sia-bot/sia/sia/fixedseed"
//
// The flag -rapid.seed goes before it, and SIA_SEEDS=new in the environment draws new cases, as `make explore` does.
// It imports nothing of ours, and only tests import it.
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
	// Flags are parsed after this, so that one on the command line counts.
	if err := flag.Set("rapid.seed", "20261124"); err != nil {
		panic("the seed of property tests: " + err.Error())
	}
}
