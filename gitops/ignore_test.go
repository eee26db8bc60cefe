package gitops

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"
)

// Patterns and paths of random pieces are judged as `git check-ignore` judges them.
func TestIgnoreEqualsGit(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
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
			return // each one starts git
		}
		rules := rapid.SliceOfN(pattern, 1, 4).Draw(rt, "rules")
		content := rapid.SampledFrom([]string{"", "", "", byteOrderMark}).Draw(rt, "mark") + strings.Join(rules, "\n") + "\n"
		must0(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(content), 0o644))
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
		out, _ := cmd.Output() // exits 1 when none is ignored
		fields := strings.Split(string(out), "\x00")
		f := []ignoreFile{parseIgnore("", []byte(content))}
		for i, p := range paths {
			if len(fields) < 4*i+4 {
				rt.Fatalf("git says too little: %q", out)
			}
			rule := fields[4*i+2]
			want := rule != "" && !strings.HasPrefix(rule, "!")
			// As the scan does: a folder above that is ignored decides.
			got := false
			for at := range p {
				if p[at] == '/' && isIgnored(f, p[:at], true) {
					got = true
					break
				}
			}
			if got = got || isIgnored(f, p, false); got != want {
				rt.Fatalf("rules %q, path %q: ignored %v, git says %v by %q", rules, p, got, want, rule)
			}
		}
	})
}

// A pattern made to be slow is not.
func TestMatchIsBounded(t *testing.T) {
	if matchName(strings.Repeat("*a", 1000), strings.Repeat("a", 900)+"b") {
		t.Error("matched")
	}
	if matchPath(strings.Split(strings.Repeat("**/a/", 300)+"b", "/"), strings.Split(strings.Repeat("a/", 250)+"c", "/")) {
		t.Error("matched")
	}
}
