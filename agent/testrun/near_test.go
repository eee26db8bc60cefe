package testrun

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNearIsBegunWithTheNewest tests that a new dependencies folder is initialized with the newest complete similar
// one, and later changes don't affect that.
func TestNearIsBegunWithTheNewest(t *testing.T) {
	r := &Runner{dir: filepath.Join(t.TempDir(), "[a-b]"), Near: true} // a folder name like a pattern
	deps := filepath.Join(r.dir, "deps")
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(deps, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(deps, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("node-near-aa/modules/whole", "1")
	write("node-near-aa/package.json", "{}")
	write("node-near-aa/modules/mocha/lib/a.js", "a")
	write("node-near-bb/modules/half", "b") // incomplete
	if err := r.seedNear(Suite{Near: "node-near-cc", Whole: "modules/whole"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"modules/whole": "1", "package.json": "{}", "modules/mocha/lib/a.js": "a"} {
		if got, err := os.ReadFile(filepath.Join(deps, "node-near-cc", name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	write("node-near-cc/package.json", `{"more": 1}`)
	if got, err := os.ReadFile(filepath.Join(deps, "node-near-aa", "package.json")); err != nil || string(got) != "{}" {
		t.Errorf("the newest is changed: %q, %v", got, err)
	}
}
