package localrun

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// brokenTests returns the evidence about tests that a head breaks although the change does not edit them. The code is
// wrong, so the check fails, as if its command ran these tests. It waits for the tests that SIA runs, as the gate does,
// and only while the head is on a branch.
//
// A broken test that the change edits may be behavior that the issue asks for: a reviewer or the user decides.
func (r *run) brokenTests(ctx context.Context, head string) (sia.TestEvidence, error) {
	ctx, cancel := context.WithTimeout(ctx, r.job.settings.Checks.Evidence.D()+time.Minute)
	defer cancel()
	for {
		t, err := r.TaskOf(ctx, r.issue)
		if err != nil {
			return sia.TestEvidence{}, err
		}
		found := t.Gate.Evidence
		switch isHead := string(t.Head) == head; {
		case isHead && found != nil && found.Head == t.Head:
			return r.unedited(ctx, head, found)
		case isHead && t.State == sia.Checking && !t.RunsTests():
			return sia.TestEvidence{}, nil
		case !isHead:
			at, err := r.bare.Run(ctx, "for-each-ref", "--points-at", head, "refs/heads/sia/")
			if err != nil || len(at) == 0 {
				return sia.TestEvidence{}, err
			}
		}
		if !nextPoll(ctx) {
			return sia.TestEvidence{}, nil // the gate does not wait longer, either
		}
	}
}

// unedited returns the evidence about broken tests that the change does not edit.
func (r *run) unedited(ctx context.Context, head string, found *sia.TestEvidence) (broken sia.TestEvidence, err error) {
	out, err := r.bare.Run(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=a",
		r.job.base, head)
	if err != nil {
		return broken, err
	}
	edited := slices.DeleteFunc(strings.Split(string(out), "\x00"), func(p string) bool { return !isTestFile(p) })
	isEdited := func(test string) bool {
		group, _, _ := strings.Cut(test, "::")
		return slices.ContainsFunc(edited, func(p string) bool { return isPartOf(p, group) })
	}
	broken.Red = slices.DeleteFunc(slices.Clone(found.Red), isEdited)
	broken.Broken = slices.DeleteFunc(slices.Clone(found.Broken), isEdited)
	r.broken.Store(head, slices.Concat(broken.Asks()))
	return broken, nil
}

// withoutBroken removes the sentences about broken tests that made a head's check fail from findings, about which a
// person has to decide.
func (r *run) withoutBroken(head string, findings []string) []string {
	said, _ := r.broken.Load(head)
	broken, _ := said.([]string)
	return slices.DeleteFunc(findings, func(f string) bool { return slices.Contains(broken, f) })
}

// runByName matches the names of test files that are run by themselves, unlike what they load.
var runByName = lazyregexp.New(`(?i)^(?:test|spec)|[a-z0-9](?:test|spec)s?\.[a-z.]+$|[._-](?:test|spec)`)

// isPartOf reports whether a test file may decide how a group of tests ends: it is the group, lies in that package, or
// is loaded by tests in its folder and below.
func isPartOf(p, group string) bool {
	dir := path.Dir(p)
	isLoaded := path.Base(p) == "conftest.py" || !runByName.MatchString(path.Base(p))
	return p == group || dir == group || isLoaded && (dir == "." || strings.HasPrefix(group, dir+"/"))
}
