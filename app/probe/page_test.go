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

// Each row of the page is complete: it has a unique id of its section, a text, and existing tests; each fact has a
// probe.
func TestFactsAreWhole(t *testing.T) {
	tests, stories := heldBy(t)
	seen, probed := map[string]bool{}, map[string]bool{}
	for _, f := range probe.Facts() {
		if probed[f.ID] || f.Probe == nil {
			t.Errorf("the id %q is taken, or there is no probe", f.ID)
		}
		probed[f.ID] = true
	}
	for _, r := range probe.Rows() {
		if seen[r.ID] || !regexp.MustCompile(`^[a-z]+/[a-z-]+$`).MatchString(r.ID) {
			t.Errorf("the id %q is taken, or no section/name", r.ID)
		}
		seen[r.ID] = true
		if r.Text == "" || r.HeldBy == "" || strings.Contains(r.Text+r.HeldBy+r.Untried, "|") {
			t.Errorf("%s lacks a text or what holds it, or has a bar, which a table can't hold", r.ID)
		}
		if probed[r.ID] != (r.Untried == "") {
			t.Errorf("%s needs either a probe or a reason for having none", r.ID)
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(r.HeldBy, -1) {
			switch {
			case strings.HasPrefix(name[1], "Test") && tests[name[1]], stories[name[1]],
				strings.HasPrefix(name[1], "app/"), strings.HasPrefix(name[1], "sim/"):
			default:
				t.Errorf("%s is held by %s, which there is not", r.ID, name[1])
			}
		}
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
