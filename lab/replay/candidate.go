package replay

import (
	"bytes"
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/text"
)

// maxChanged is the maximum number of files that a candidate changes.
const maxChanged = 60

// candidate is a commit that changed tests and code of one language.
type candidate struct {
	gitops.HistoryCommit
	lang    testrun.Language
	changes []gitops.HistoryChange
	code    []string // changed files that are not tests
}

// candidateOf returns the candidate of a commit; ok is false if it is none.
func candidateOf(ctx context.Context, h *gitops.History, c gitops.HistoryCommit) (_ candidate, ok bool, err error) {
	changes, err := h.Changes(ctx, c.Parent, c.SHA, maxChanged)
	if err != nil || len(changes) > maxChanged {
		return candidate{}, false, err
	}
	for _, l := range testrun.Languages() {
		tests, code := false, false
		for _, f := range changes {
			tests = tests || f.Now.ID != "" && l.IsTest(f.Path)
			code = code || l.IsCode(f.Path)
		}
		if tests && code {
			out := candidate{HistoryCommit: c, lang: l, changes: changes}
			for _, f := range changes {
				if !l.IsTest(f.Path) {
					out.code = append(out.code, f.Path)
				}
			}
			return out, true, nil
		}
	}
	return candidate{}, false, nil
}

// split is a candidate's two trees: its tests on top of its parent, except those that stay unchanged, and its commit.
type split struct {
	over    testrun.Files       // tests and manifests of the commit
	tests   []string            // the tests in over, in order
	without []string            // tests that the commit deleted
	before  testrun.Files       // the parent with over
	after   testrun.Files       // the commit, its tests as in before
	made    map[string][]byte   // contents of files that are in no commit, by their id
	leftOut map[string][]string // declarations that are removed from test files
}

// splitAt adds a candidate's chosen tests to its parent. Both trees have the same tests.
func (c candidate) splitAt(parent, commit testrun.Files, ch *choice) split {
	s := split{over: testrun.Files{}, before: maps.Clone(parent), after: maps.Clone(commit), made: map[string][]byte{}}
	for _, f := range c.changes {
		isTest := c.lang.IsTest(f.Path)
		switch {
		case !isTest && !c.lang.IsManifest(f.Path):
		case ch.left[f.Path]:
			put(s.after, f.Path, f.Was)
		case f.Now.ID != "":
			put(s.before, f.Path, f.Now)
			s.over[f.Path] = f.Now
			if isTest {
				s.tests = append(s.tests, f.Path)
			}
			if k, ok := ch.cuts[f.Path]; ok {
				s.cut(f.Path, f.Now, k)
			}
		case isTest:
			delete(s.before, f.Path)
			s.without = append(s.without, f.Path)
		}
	}
	return s
}

// cut adds a test file without some of its declarations, to both trees.
func (s *split) cut(p string, whole gitops.HistoryFile, k cut) {
	whole.ID = gitops.BlobID(int64(len(k.text)), bytes.NewReader(k.text))
	s.over[p], s.before[p], s.after[p] = whole, whole, whole
	s.made[whole.ID] = k.text
	if s.leftOut == nil {
		s.leftOut = map[string][]string{}
	}
	s.leftOut[p] = k.names
}

// put sets or removes a file of a tree.
func put(tree testrun.Files, p string, f gitops.HistoryFile) {
	if f.ID == "" {
		delete(tree, p)
	} else {
		tree[p] = f
	}
}

// Limits of a task's text, in characters.
const (
	maxTitle = 300
	maxText  = 20_000
)

// closing matches an issue that a commit closes.
// https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
var closing = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+` +
	`(?:#|GH-|https?://[^/\s]+/[\w.-]+/[\w.-]+/issues/)(\d{1,9})\b`)

// task returns the task of a verified candidate, with the commit's text.
func (c candidate) task(repo string, s split, failing, passing []string, now time.Time) Task {
	title, body, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	t := Task{Version: TaskVersion, ID: c.SHA[:idDigits], Repo: repo, Parent: c.Parent, Commit: c.SHA,
		Language: c.lang.Name(), Tests: slices.Sorted(maps.Keys(s.over)), LeftOut: s.leftOut, Without: s.without,
		Failing: failing, Passing: passing, Title: shown(title, maxTitle), Text: shown(strings.TrimSpace(body), maxText),
		Files: c.code, Mined: now.UTC().Truncate(time.Second)}
	if m := closing.FindStringSubmatch(c.Message); m != nil {
		t.Issue, _ = strconv.Atoi(m[1]) // it has up to nine digits
	}
	return t
}

// shown returns strangers' text for a task's file: limited, with secrets masked.
func shown(s string, most int) string {
	return text.Clip(secret.Mask(strings.ToValidUTF8(s, "\uFFFD")), most)
}

// inGroup reports whether a test file belongs to a group, which is a folder or the file itself.
func inGroup(p, group string) bool { return p == group || path.Dir(p) == path.Clean(group) }
