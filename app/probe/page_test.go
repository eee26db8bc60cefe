package probe_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/probe"
)

var update = flag.Bool("update", false, "write docs/github.md anew")

const page = "../../docs/github.md"

func TestPageIsUpToDate(t *testing.T) {
	if *update {
		if err := os.WriteFile(page, []byte(probe.Page()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(probe.Page(), string(got)); d != "" {
		t.Errorf("run go test ./app/probe -update:\n%s", d)
	}
}

// Each fact is complete: it has a unique id of its section, a text, a probe or the reason for having none, and
// existing tests.
func TestFactsAreWhole(t *testing.T) {
	tests, stories := heldBy(t)
	held, seen := probe.HeldBy(), map[string]bool{}
	for _, f := range probe.Facts() {
		if seen[f.ID] || !regexp.MustCompile(`^[a-z]+/[a-z-]+$`).MatchString(f.ID) {
			t.Errorf("the id %q is taken, or no section/name", f.ID)
		}
		seen[f.ID] = true
		by := held[f.ID]
		delete(held, f.ID)
		if f.Text == "" || by == "" || strings.Contains(f.Text+by+f.NotFor, "|") {
			t.Errorf("%s lacks a text or what holds it, or has a bar, which a table can't hold", f.ID)
		}
		if (f.Probe == nil) == (f.NotFor == "") {
			t.Errorf("%s needs either a probe or a reason", f.ID)
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(by, -1) {
			switch {
			case strings.HasPrefix(name[1], "Test") && tests[name[1]], stories[name[1]],
				strings.HasPrefix(name[1], "app/"), strings.HasPrefix(name[1], "sim/"):
			default:
				t.Errorf("%s is held by %s, which there is not", f.ID, name[1])
			}
		}
	}
	for id := range held {
		t.Errorf("testdata/held.txt names %s, which is no fact", id)
	}
}

// heldBy returns the module's tests and stories.
func heldBy(t *testing.T) (tests, stories map[string]bool) {
	t.Helper()
	tests, stories = map[string]bool{}, map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, dir := range []string{"../../app", "../../sia", "../../gitops", "../../sim"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case strings.HasSuffix(path, "_test.go"):
				b, err := os.ReadFile(path)
				for _, m := range function.FindAllStringSubmatch(string(b), -1) {
					tests[m[1]] = true
				}
				return err
			case filepath.Ext(path) == ".txtar" && strings.Contains(path, "stories"):
				stories[strings.TrimSuffix(filepath.Base(path), ".txtar")] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return tests, stories
}
