// Package sandboxtest gives tests the real sandbox of this host. A sandbox is mandatory: missing programs are installed
// if possible, and otherwise reported.
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

// installed tries once to install bubblewrap, on Debian as root.
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

// Stdlib returns the folder for this machine's compiled standard libraries. Like Go's build cache, it is kept between
// test runs: with it as [sandbox.Options.Stdlib], a library is compiled only once.
func Stdlib(t testing.TB) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "sia", "stdlib")
}

// probed caches capabilities of this host by options, since they don't change while tests run.
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

// New returns a working sandbox, or fails the test.
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
