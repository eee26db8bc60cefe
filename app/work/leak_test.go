package work

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

// found returns the secrets that a text adds to another.
func found(t *testing.T, before string, now io.Reader) (all []string) {
	t.Helper()
	err := contentLeaks(t.Context(), &secret.Masker{}, now, func() (string, error) { return before, nil },
		func(line int, rule string) error { all = append(all, fmt.Sprintf("%d %s", line, rule)); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A commit is responsible for the secrets that it adds, line by line, and not for those in the base.
func TestLeaksInAFile(t *testing.T) {
	token, other := "ghp_"+strings.Repeat("aB3d", 9), "ghp_"+strings.Repeat("Zy8x", 9)
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("aB3d", 16) + "\n-----END PRIVATE KEY-----\n"
	for name, c := range map[string]struct {
		before, now string
		want        []string
	}{
		"added": {"a\n", "a\nb = " + token + "\nc = " + other + "\n",
			[]string{"2 github-pat", "3 github-pat"}},
		"beside a change":       {"old = " + token + "\ngone\n", "old = " + token + "\nnew\n", nil},
		"moved within":          {"a = " + token + "\n", "x\nb = " + token + "\n", nil},
		"exchanged":             {"a = " + token, "a = " + other, []string{"1 github-pat"}},
		"taken away":            {"a = " + token, "", nil},
		"over several lines":    {"a\n", "a\n" + key, []string{"2 private-key"}},
		"a line of a key":       {strings.Replace(key, "aB3d", "xB3d", 1), key, []string{"1 private-key"}},
		"a guess":               {"", "API_TOKEN=xK9vQ2mZ7pL4wR8t\n", nil},
		"an address for a test": {"", "postgres://postgres:postgres@localhost/test", nil},
		"binary":                {"", "\x00\x01" + token + "\x00\xff", []string{"1 github-pat"}},
		"in UTF-16":             {"", "\xff\xfe" + utf16Text("a\nb = "+token+"\n"), []string{"2 github-pat"}},
		"in UTF-16, as it was":  {utf16Text("a = " + token), utf16Text("x\na = " + token), nil},
		"in base64": {"", "a\nb: " + base64.StdEncoding.EncodeToString([]byte(token)) + "\n",
			[]string{"2 github-pat"}},
		"documentation's tokens": {"", "AKIAIOSFODNN7EXAMPLE\nghp_" + strings.Repeat("x", 36), nil},
	} {
		if d := cmp.Diff(c.want, found(t, c.before, strings.NewReader(c.now))); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// utf16Text encodes ASCII as UTF-16.
func utf16Text(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		b.Write([]byte{c, 0})
	}
	return b.String()
}

// A secret is found at every position of a large file, also in another encoding.
func TestEncodedLeaksInALargeFile(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3d", 9)
	for _, at := range []int{0, scanChunk/2 - 20, scanChunk*3/4 - 20, scanChunk - 50, scanChunk, scanChunk + 1,
		scanChunk + 30, scanChunk + 31, scanChunk + scanTail - 50, scanChunk + scanLead + scanTail - 21, 2*scanChunk + 2} {
		text := strings.Repeat("x", at) + " " + token + " " + strings.Repeat("y", scanChunk/4)
		want := []string{"1 github-pat"}
		for name, encoded := range map[string]string{"UTF-16": utf16Text(text),
			"base64": "x: " + base64.StdEncoding.EncodeToString([]byte(text))} {
			if d := cmp.Diff(want, found(t, "", strings.NewReader(encoded))); d != "" {
				t.Errorf("%s at %d (-want +got):\n%s", name, at, d)
			}
		}
	}
}

// A file is read completely regardless of its size, and each secret in it is found once, at every position relative to
// the chunks.
func TestLeaksInALargeFile(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3d", 9)
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("aB3d", 16)+"\n", 200) +
		"-----END PRIVATE KEY-----\n"
	line := strings.Repeat("x", 99) + "\n"
	for _, at := range []int{0, scanChunk - 200, scanChunk - 100, scanChunk, scanChunk + 100, scanChunk + scanTail - 100,
		scanChunk + scanTail, scanChunk + scanLead - 20, scanChunk + scanLead + scanTail - 20, 2 * scanChunk,
		5 * scanChunk / 2, 10 * scanChunk} {
		n := at / len(line)
		before := line[:at%len(line)]
		parts := []io.Reader{&repeated{line: line, n: n}, strings.NewReader(before + "a = " + token + "\n" + key),
			&repeated{line: line, n: 12_000}}
		want := []string{fmt.Sprintf("%d github-pat", n+1), fmt.Sprintf("%d private-key", n+2)}
		if d := cmp.Diff(want, found(t, "", io.MultiReader(parts...))); d != "" {
			t.Errorf("at %d (-want +got):\n%s", at, d)
		}
	}
	broken := io.MultiReader(&repeated{line: line, n: 20_000}, brokenReader{})
	err := contentLeaks(t.Context(), &secret.Masker{}, broken, nil, nil)
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("of a file that can't be read: %v", err)
	}
}

// repeated reads a line n times.
type repeated struct {
	line string
	n    int
	left string // rest of the present line
}

func (r *repeated) Read(b []byte) (k int, err error) {
	for k < len(b) {
		if r.left == "" {
			if r.n == 0 {
				break
			}
			r.left = r.line
			r.n--
		}
		m := copy(b[k:], r.left)
		r.left = r.left[m:]
		k += m
	}
	if k == 0 {
		return 0, io.EOF
	}
	return k, nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrNoProgress }

// A name is published with the file.
func TestLeaksInAName(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3d", 9)
	for name, c := range map[string]struct{ path, was, want string }{
		"a file":        {"docs/" + token + ".md", "", "`docs/[secret: github-pat]` (github-pat, in its name)"},
		"a folder":      {token + "/a", "", "`[secret: github-pat]/a` (github-pat, in its name)"},
		"renamed to it": {token, "a", "`[secret: github-pat]` (github-pat, in its name)"},
		"was called so": {token, token, ""}, "ordinary": {"a/b.go", "", ""},
	} {
		got := ""
		if err := nameLeaks(&secret.Masker{}, c.path, c.was, func(s string) error { got += s; return nil }); err != nil ||
			got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// A tree that can't be committed ends the attempt with a reason, and its cost is kept.
func TestUnfitTreeIsNoFailedJob(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		end    sia.AttemptEnd
		reason string
		failed bool
	}{
		"too deep": {fmt.Errorf("commit: %w: folders nested deeper than 200", gitops.ErrTree), sia.EndTurns,
			"the turns are used up; nothing was pushed, since the work tree can't be committed: commit: unfit tree: folders " +
				"nested deeper than 200", false},
		"committed":          {nil, sia.EndTurns, "the turns are used up", false},
		"the disk is broken": {io.ErrNoProgress, sia.EndTurns, "the turns are used up", true},
	} {
		fact := sia.AttemptEnded{End: c.end, Reason: "the turns are used up", Turns: 7, Cost: 3 * sia.Credit}
		err := (&attemptWorker{}).finishWorkTree(t.Context(), sia.Task{}, agentRun{}, nil, &fact,
			func(context.Context, sia.Task, agentRun, *gitops.Workspace, *sia.AttemptEnded) error { return c.err })
		if (err != nil) != c.failed || fact.Reason != c.reason || fact.Turns != 7 || fact.Cost != 3*sia.Credit ||
			fact.Commit != "" {
			t.Errorf("%s: %+v, %v", name, fact, err)
		}
	}
}

// If scanning the work exceeds its time limit, the attempt fails. That of a stopped one is shorter.
func TestWorkIsLookedThroughInTime(t *testing.T) {
	for end, limit := range map[sia.AttemptEnd]time.Duration{sia.EndFinished: 2 * time.Minute,
		sia.EndCancelled: 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			fact := sia.AttemptEnded{End: end, Commit: "f00d"}
			began := time.Now()
			err := (&attemptWorker{}).finishWorkTree(t.Context(), sia.Task{}, agentRun{}, nil, &fact,
				func(ctx context.Context, _ sia.Task, _ agentRun, _ *gitops.Workspace, _ *sia.AttemptEnded) error {
					select {
					case <-ctx.Done():
						return context.Cause(ctx)
					case <-time.After(time.Hour):
						return nil
					}
				})
			want := "nothing was pushed, since the work tree can't be committed: it was not looked through within "
			if err != nil || fact.Commit != "" || time.Since(began) != limit || fact.Reason != want+limit.String() {
				t.Errorf("%s: after %s: %+v, %v", end, time.Since(began), fact, err)
			}
		})
	}
}
