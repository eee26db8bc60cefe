package replay

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/testrun"
)

func TestBrokenFiles(t *testing.T) {
	log, err := os.ReadFile(filepath.Join("testdata", "cargo-broken.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"tests/sums.rs"}, broken(testrun.Rust{}, string(log), "")); diff != "" {
		t.Errorf("files that stop cargo (-want +got):\n%s", diff)
	}
}
