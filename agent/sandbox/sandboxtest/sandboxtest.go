// Package sandboxtest gives tests the real sandbox of this host. It is not
// optional for them: what is missing is installed where a test may do that, and
// named otherwise.
//
// The package may import agent/sandbox; only tests import it.
package sandboxtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sia-bot/sia/agent/sandbox"
)

// installed tries once to install bubblewrap: on a Debian where we are root.
var installed = sync.OnceValue(func() string {
	if _, err := exec.LookPath("bwrap"); err == nil || os.Geteuid() != 0 {
		return ""
	}
	out, err := exec.Command("apt-get", "install", "-y", "--no-install-recommends", "bubblewrap").CombinedOutput()
	if err != nil {
		return "apt-get install bubblewrap: " + err.Error() + "\n" + string(out)
	}
	return ""
})

// Stdlib is the folder of this machine's compiled standard libraries, which outlives the tests as Go's build cache
// does: with it as [sandbox.Options.Stdlib] a test does not compile what others have.
func Stdlib(t testing.TB) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "sia", "stdlib")
}

// probed is what this host can do, by what was looked for: it does not change while tests run.
var probed = struct {
	sync.Mutex
	by map[string]sandbox.Capability
}{by: map[string]sandbox.Capability{}}

func probe(t testing.TB, o sandbox.Options) sandbox.Capability {
	key := fmt.Sprintf("%q %q %q %q", o.Bwrap, o.Kind, o.Self, append(os.Environ(), o.Env...))
	probed.Lock()
	defer probed.Unlock()
	found, known := probed.by[key]
	if !known {
		found = sandbox.Probe(t.Context(), o)
		probed.by[key] = found
	}
	return found
}

// New is a sandbox that works, or the end of the test.
func New(t testing.TB, o sandbox.Options) *sandbox.Sandbox {
	t.Helper()
	why := installed()
	found := probe(t, o)
	if !found.OK() {
		t.Fatalf("%s; this test needs a sandbox: %s\n%s", found, found.Fix, why)
	}
	s, err := sandbox.New(o, found)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
