package memory

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/secret"
)

// Of more tasks than a repository may have, a reindex takes the last.
func TestReindexLimitsTasks(t *testing.T) {
	var files []gitops.File
	for n := range maxTaskFiles + 2 {
		files = append(files, gitops.File{Path: fmt.Sprintf(".sia/tasks/%d.json", n+1)},
			gitops.File{Path: fmt.Sprintf(".sia/tasks/%d.md", n+1)})
	}
	slices.SortFunc(files, func(a, b gitops.File) int { return strings.Compare(a.Path, b.Path) })
	x := &rebuild{}
	names := x.taskFiles(files)
	if len(names) != maxTaskFiles || slices.Contains(names, ".sia/tasks/1.json") ||
		slices.Contains(names, ".sia/tasks/2.json") || !slices.Contains(names, ".sia/tasks/3.json") ||
		!strings.HasPrefix(fmt.Sprint(x.out.Problems), "[the first 2 tasks are left out") {
		t.Errorf("%d of %d: %v", len(names), len(files)/2, x.out.Problems)
	}
	if names := x.taskFiles(files[:9]); len(names) > 9 || len(x.out.Problems) != 1 {
		t.Errorf("%v, %v", names, x.out.Problems)
	}
}

// A lesson that people broke is left out; the others are restored.
func TestReindexChecksLessons(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	x := &rebuild{branches: &Branches{now: func() time.Time { return now }, secrets: &secret.Masker{}}}
	good := lesson.Lesson{ID: "0a0000000001", Kind: lesson.Success, State: lesson.Active, Text: "one\ntwo", Good: 3,
		Bad: 1, CreatedAt: now.AddDate(1, 0, 0)}
	bad, unknown := good, good
	bad.ID, bad.Good, bad.Bad = "0a0000000002", 6, -5
	unknown.ID, unknown.State = "0a0000000003", "odd"
	got := x.validLessons([]lesson.Lesson{bad, good, unknown})
	if len(got) != 1 || got[0].ID != good.ID || got[0].Text != "one two" || !got[0].CreatedAt.Equal(now) ||
		!strings.Contains(fmt.Sprint(x.out.Problems), string(bad.ID)+" has negative counts; it is left out") ||
		len(x.out.Problems) != 2 {
		t.Errorf("%+v, %v", got, x.out.Problems)
	}
	evidence := []lesson.Evidence{{Key: "a", Good: 1}, {Key: "b", Good: -1}, {Key: "c", Bad: 1e308}}
	if got := x.validEvidence(evidence); len(got) != 1 || got[0].Key != "a" {
		t.Errorf("%+v", got)
	}
}

// A restored decision names no models and prompts, however their field is written, and techniques that are known.
func TestReindexRestoresContexts(t *testing.T) {
	for given, want := range map[string]string{
		`{"pattern":"environment"}`:              `{"pattern":"environment"}`,
		`{"SETUP":"a","ſetup":"b","task":"7-1"}`: `{"setup":"restored","task":"7-1"}`,
		`{"confidence":{"mine":1,"invented":1,"fresh-start":0.5},"setup":"a"}`: `{"confidence":{"fresh-start":0.5,` +
			`"mine":1},"setup":"restored"}`,
		`null`: `null`, ``: ``,
	} {
		if got, err := restoreContext([]byte(given), "mine"); err != nil || string(got) != want {
			t.Errorf("%s is restored as %s, %v", given, got, err)
		}
	}
	for _, bad := range []string{`[]`, `{"confidence":7}`} {
		if got, err := restoreContext([]byte(bad), ""); err == nil {
			t.Errorf("%s is restored as %s", bad, got)
		}
	}
}

// Of more live lessons than a repository may have, a reindex takes those with the highest confidence.
func TestReindexLimitsLessons(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var all []lesson.Lesson
	for n := range maxLessons + 10 {
		all = append(all, lesson.Lesson{ID: lesson.ID(fmt.Sprintf("%012x", n)), State: lesson.Active,
			Good: float64(n % maxLessons), CountedAt: now})
	}
	all[3].State = lesson.Archived
	known := []lesson.Lesson{all[0], {ID: "ffffffffffff", State: lesson.Active}}
	x := &rebuild{branches: &Branches{now: func() time.Time { return now }}}
	var left []string
	got := x.limit(slices.Clone(all), known)
	for _, l := range all {
		if !slices.ContainsFunc(got, func(g lesson.Lesson) bool { return g.ID == l.ID }) {
			left = append(left, string(l.ID[9:]))
		}
	}
	// Of 2008 new ones, 1998 have room: the first and the fourth are no new live ones.
	if want := "001 002 004 005 7d0 7d1 7d2 7d3 7d4 7d5"; strings.Join(left, " ") != want ||
		!strings.HasPrefix(fmt.Sprint(x.out.Problems), "[10 lessons with the lowest confidence are left out") {
		t.Errorf("left out %v, want %s: %v", left, want, x.out.Problems)
	}
	if got := x.limit(all[:maxLessons], nil); len(got) != maxLessons || len(x.out.Problems) != 1 {
		t.Errorf("%d of as many as there may be; %v", len(got), x.out.Problems)
	}
}
