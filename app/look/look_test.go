package look

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	selector   = regexp.MustCompile(`([^{}]+)\{`)
	cssClass   = regexp.MustCompile(`\.([a-z][\w-]*)`)
)

// Every class that the style sheet speaks of is in a page, or in what makes one.
func TestEveryRuleIsUsed(t *testing.T) {
	css, err := files.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	var pages strings.Builder
	err = filepath.WalkDir("../web", func(path string, d fs.DirEntry, err error) error {
		made := strings.HasSuffix(path, ".html") || strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
		if err != nil || d.IsDir() || !made || strings.Contains(path, "testdata") {
			return err
		}
		b, err := os.ReadFile(path)
		pages.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range selector.FindAllStringSubmatch(cssComment.ReplaceAllString(string(css), ""), -1) {
		for _, c := range cssClass.FindAllStringSubmatch(rule[1], -1) {
			if !regexp.MustCompile(`(^|[^\w-])` + c[1] + `($|[^\w-])`).MatchString(pages.String()) {
				t.Errorf("no page has the class %s", c[1])
			}
		}
	}
}
