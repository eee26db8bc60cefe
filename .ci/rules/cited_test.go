package rules

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	citedTest  = regexp.MustCompile("`((?:Test|Fuzz|test)[A-Z][A-Za-z0-9]*)(?:/[A-Za-z0-9-]+)?`") // or a subtest of it
	citedStory = regexp.MustCompile("(?:story|stories) (?:`[a-z0-9-]+`(?:,| and)?\\s*)+")
	storyName  = regexp.MustCompile("`([a-z0-9]+(?:-[a-z0-9]+)*)`")
	testFunc   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|test)[A-Z][A-Za-z0-9]*)\(`)
)

// tests returns the names of all tests of the project.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || !strings.HasSuffix(path, "_test.go") && !strings.Contains(path, "test/"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range testFunc.FindAllSubmatch(text, -1) {
			known[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// The tests and stories that SECURITY.md and docs cite exist.
func TestRulesCiteWhatExists(t *testing.T) {
	t.Parallel()
	known := tests(t)
	pages, err := filepath.Glob(root + "/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	cited := 0
	for _, page := range append(pages, root+"/SECURITY.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range citedTest.FindAllSubmatch(text, -1) {
			if cited++; !known[string(m[1])] {
				t.Errorf("%s cites %s, which is no test", filepath.Base(page), m[1])
			}
		}
		for _, list := range citedStory.FindAll(text, -1) {
			for _, m := range storyName.FindAllSubmatch(list, -1) {
				if _, err := os.Stat(root + "/app/testdata/stories/" + string(m[1]) + ".txtar"); err != nil {
					t.Errorf("%s cites the story %s, which is none", filepath.Base(page), m[1])
				}
			}
		}
	}
	if cited < 100 {
		t.Errorf("only %d citations were found", cited)
	}
}
