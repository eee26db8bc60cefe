package glob

import (
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

var globs = []string{"*", "*.go", "**", "**/*.go", "src/**", "src/**/*.go", "src/*", "{a,b}.*", "*.{go,ts}",
	"src/{b,c}/**", "[ab].*", "[!a].*", "[^a]*", "?.go", "é.*", "ü/?.go", `src/\{x\}.go`, "src/x-[0-9].go", "[", "{a",
	"a/**/b", `a/\[b\].md`, "**/b/**", "{src,a}/**/*", ".github/**", "**/.npmrc", "docs/CODEOWNERS",
	"{src/**,a/**}", "{.github/**}", "{*.md,**/*.ts}", "{**/*.lock,**/.npmrc}", "{**/x-1.go,web/**}", "src/{a,b/**}",
	"{src/**,a}/d.ts", "{src/**,a}.go", "{web/{**,x},src/{b/**,x}}", "{[}],src/**}", "{a,**}.go"}

var paths = []string{"a.go", "b.ts", "src", "src/a.go", "src/b/a.go", "src/b/c/d.ts", "src/x-1.go", "ü/é.go",
	"src/{x}.go", "a/b", "a/[b].md", ".github/workflows/ci.yml", "web/.npmrc", ".npmrc", "docs/CODEOWNERS", "a\nb"}

// check holds that a glob means what doublestar takes it for.
func check(t *testing.T, glob, path string) {
	g, err := Compile(glob)
	if valid := doublestar.ValidatePattern(glob); valid != (err == nil) {
		t.Errorf("%q: valid %v, %v", glob, valid, err)
	} else if valid && g.Match(path) != doublestar.MatchUnvalidated(glob, path) {
		t.Errorf("%q matches %q: %v", glob, path, g.Match(path))
	}
}

func TestMeansWhatDoublestarDoes(t *testing.T) {
	for _, glob := range globs {
		for _, path := range paths {
			check(t, glob, path)
		}
	}
}

// No glob takes longer than it and its path are long.
func TestGlobsThatMultiply(t *testing.T) {
	path := strings.Repeat("a", 4000) + strings.Repeat("/a", 1000)
	for _, glob := range []string{strings.Repeat("{a,aa}", 30) + "z", strings.Repeat("*a", 100) + "z",
		strings.Repeat("**/", 200) + "z", strings.Repeat("{a,a*}", 100) + "z",
		strings.Repeat("{", 500) + strings.Repeat("}", 500),
		strings.Repeat("{a,", 15) + "a" + strings.Repeat("}", 15) + "z", "{" + strings.Repeat("a*,", 300) + "}z",
		strings.Repeat("{**/,a}", 100) + "z", strings.Repeat("**/*a", 50) + "z"} {
		done := make(chan bool, 1)
		go func() {
			g, err := Compile(glob)
			done <- err == nil && g.Match(path)
		}()
		select {
		case matched := <-done:
			if matched {
				t.Errorf("%.40s matches", glob)
			}
		case <-time.After(15 * time.Second):
			t.Fatalf("%.40s takes too long", glob)
		}
	}
}

// What can't be read means no path.
func TestNoGlob(t *testing.T) {
	if g, err := Compile("[a"); err == nil || g.Match("a") {
		t.Errorf("%v", err)
	}
}

// FuzzCompile reads any glob, and matches any path with it.
func FuzzCompile(f *testing.F) {
	for i, glob := range globs {
		f.Add(glob, paths[i%len(paths)])
	}
	f.Fuzz(func(t *testing.T, glob, path string) {
		if g, err := Compile(glob); err != nil && g.Match(path) {
			t.Errorf("%q is no glob, and matches %q", glob, path)
		}
	})
}
