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
	word       = regexp.MustCompile(`[\w-]+`)
)

// Every class in the style sheet is used in a page or in the code of one.
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
	words := map[string]bool{}
	for _, w := range word.FindAllString(pages.String(), -1) {
		words[w] = true
	}
	for _, rule := range selector.FindAllStringSubmatch(cssComment.ReplaceAllString(string(css), ""), -1) {
		for _, c := range cssClass.FindAllStringSubmatch(rule[1], -1) {
			if !words[c[1]] {
				t.Errorf("no page has the class %s", c[1])
			}
		}
	}
}

var darkScheme = regexp.MustCompile(`@media \(prefers-color-scheme: dark\) \{\s*` +
	`:root \{(\s*--[\w-]+: (#[0-9a-f]{3,8}|rgb\([\d %/]+\));)+\s*\}\s*\}`)

// A color scheme changes colors alone, so everything else needs a review in one scheme only.
func TestSchemesDifferInColours(t *testing.T) {
	css, err := files.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	if !darkScheme.Match(css) {
		t.Error("the dark scheme is not a list of colours")
	}
	rest := darkScheme.ReplaceAllString(string(css), "")
	if strings.Contains(rest, "prefers-color-scheme") || strings.Contains(rest, "light-dark(") {
		t.Error("something beside the list of colours depends on the scheme")
	}
}
