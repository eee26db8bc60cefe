package gitignore

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"
)

// Random patterns and paths are matched as by `git check-ignore`.
func TestIgnoreEqualsGit(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	piece := rapid.SampledFrom([]string{"a", "b", "*", "**", "?", "/", "/", "[ab]", "[!a]", "[^b-z]", "\\a", "\\*", "ab",
		".", "[[:alpha:]]", "[]a]", "[a-", "\\", "x*y", "{a,b}", "[\\]a]", " "})
	pattern := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "", "", "!", "#", "\\!"}).Draw(t,
			"sign") + strings.Join(rapid.SliceOfN(piece, 1, 6).Draw(t, "pieces"), "")
	})
	name := rapid.SampledFrom([]string{"a", "b", "ab", "aXb", "xy", "x1y", "*", "]", "{a,b}", ".", "c"})
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		if runs++; runs > 30 {
			return // each case starts git
		}
		rules := rapid.SliceOfN(pattern, 1, 4).Draw(rt, "rules")
		content := rapid.SampledFrom([]string{"", "", "", byteOrderMark}).Draw(rt, "mark") + strings.Join(rules, "\n") + "\n"
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		var paths []string
		for range 25 {
			p := strings.Join(rapid.SliceOfN(name, 1, 4).Draw(rt, "path"), "/")
			if p = filepath.Clean(p); p != "." {
				paths = append(paths, p)
			}
		}
		cmd := exec.Command("git", "-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "-z", "--stdin", "-v",
			"-n")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(strings.Join(paths, "\x00")+"\x00")
		out, _ := cmd.Output() // exits with 1 if none is ignored
		fields := strings.Split(string(out), "\x00")
		f := Rules(nil).With("", []byte(content))
		for i, p := range paths {
			if len(fields) < 4*i+4 {
				rt.Fatalf("git says too little: %q", out)
			}
			rule := fields[4*i+2]
			want := rule != "" && !strings.HasPrefix(rule, "!")
			// As in the scan, an ignored parent folder decides.
			got := false
			for at := range p {
				if p[at] == '/' && f.Ignore(p[:at], true) {
					got = true
					break
				}
			}
			if got = got || f.Ignore(p, false); got != want {
				rt.Fatalf("rules %q, path %q: ignored %v, git says %v by %q", rules, p, got, want, rule)
			}
		}
	})
}

// A pattern that is designed to be slow is not.
func TestMatchIsBounded(t *testing.T) {
	if matchName(strings.Repeat("*a", 1000), strings.Repeat("a", 900)+"b") {
		t.Error("matched")
	}
	if matchPath(strings.Split(strings.Repeat("**/a/", 300)+"b", "/"), strings.Split(strings.Repeat("a/", 250)+"c", "/")) {
		t.Error("matched")
	}
}

// The number of rules that are used is bounded, for any length and number of files.
func TestIgnoredPatternsAreBounded(t *testing.T) {
	long := func(lines int) []byte { return []byte(strings.Repeat("**/a*b*c*d*e*f\n", lines)) }
	for lines, want := range map[int]int{5000: maxRules, 100_000: maxRules, 100: 6100} {
		r := Rules(nil).With("", long(6000)).With("below", long(lines))
		if got := len(r[0].rules) + len(r[1].rules); got != want {
			t.Errorf("%d patterns below 6000: %d count, want %d", lines, got, want)
		}
	}
}

// FuzzIgnore parses any .gitignore, and matches any path with it.
func FuzzIgnore(f *testing.F) {
	f.Add([]byte("*.log\n!/src/**\n[a-\n{x"), "x/y")
	f.Fuzz(func(_ *testing.T, b []byte, p string) {
		_ = Rules(nil).With("", b).With("src", b).Ignore(p, false)
	})
}
