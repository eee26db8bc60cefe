package glob

import (
	"strings"
	"testing"
	"time"
)

// Matching takes linear time for any glob.
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

// A glob that is invalid or has too many alternatives matches no path.
func TestNoGlob(t *testing.T) {
	for _, glob := range []string{"", "[a", "{a", `a\`, "a" + strings.Repeat("{a,a}", 7),
		"{" + strings.Repeat("a,", 100) + "a}", strings.Repeat("a", maxBytes+1), "a" + strings.Repeat(`{\},a,[{],}`, 4)} {
		if g, err := Compile(glob); glob != "" && err == nil || g.Match("a") || g.Match(glob) {
			t.Errorf("%.60q: %v", glob, err)
		}
	}
	g, err := Compile("{" + strings.Repeat("{a,}", 5) + ",b,}*")
	if err != nil || !g.Match("aaac") {
		t.Errorf("96 alternatives: %v", err)
	}
}

// FuzzCompile compiles any glob, and matches any path with it.
func FuzzCompile(f *testing.F) {
	for _, glob := range []string{"src/**/*.go", "{src/**,a/**}", "[!a-c]?.*", `src/\{x\}.go`, "{[}],src/**}", "{a"} {
		f.Add(glob, "src/b/a.go")
	}
	f.Fuzz(func(t *testing.T, glob, path string) {
		if g, err := Compile(glob); err != nil && g.Match(path) {
			t.Errorf("%q is no glob, and matches %q", glob, path)
		}
	})
}
