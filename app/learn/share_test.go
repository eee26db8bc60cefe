package learn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// own assigns repositories 7, 8 and 9 to one owner, 10 to another.
func (w *teacher) own() {
	w.t.Helper()
	ctx := context.Background()
	for id, owner := range map[int64]string{7: "acme", 8: "acme", 9: "acme", 10: "globex"} {
		installation := int64(len(owner))
		w.must(w.store.UpsertInstallation(ctx, store.Installation{ID: installation, Account: owner}))
		w.must(w.store.UpsertRepository(ctx,
			store.Repository{Repo: sia.Repo{ID: id, Owner: owner, Name: fmt.Sprint("r", id)}, Installation: installation}))
	}
}

// teachUser stores a lesson that a user teaches a repository.
func (w *teacher) hear(repo int64, text string) lesson.ID {
	w.t.Helper()
	l := lesson.NewTaught(repo, text, text, sia.Actor{Login: "ada"}, sia.Task{}, w.now)
	w.must(w.store.PutLessons(context.Background(), repo, l))
	return l.ID
}

// Nothing is shared between owners, and secrets are never shared, even if the lesson was learned before their format
// was known.
func TestShare(t *testing.T) {
	w := newTeacher(t)
	ctx := context.Background()
	w.own()
	const generate = "Run make generate after a change of the schema."
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	keyed := "Fetch the fixtures of the importer with the key " + token
	a, b := w.hear(7, generate), w.hear(10, generate)
	if all, err := w.Agreements(ctx); err != nil || len(all) != 0 {
		t.Errorf("two owners agree: %+v, %v", all, err)
	}
	if _, _, err := w.Share(ctx, 0, b, "root"); err == nil ||
		!strings.Contains(err.Error(), "no other repository of globex") {
		t.Errorf("sharing what one repository learned: %v", err)
	}
	c := w.hear(8, generate)
	w.hear(7, keyed)
	secret := w.hear(8, keyed)
	all, err := w.Agreements(ctx)
	w.must(err)
	if len(all) != 2 || !all[0].Waits() || !all[1].Waits() {
		t.Fatalf("%+v", all)
	}
	for installation, want := range map[int64]bool{4: true, 6: false} { // acme's, globex's
		v, already, err := w.Shareable(ctx, installation, secret)
		var refused lesson.Refused
		if already || (err == nil) != want || errors.As(err, &refused) == want || want && v.Installation != 4 {
			t.Errorf("in installation %d: %+v, %v, %v", installation, v, already, err)
		}
	}
	for _, x := range all {
		for _, l := range x.In {
			if strings.Contains(fmt.Sprint(l.Shared), token) {
				t.Errorf("what is shown has the token: %+v", l.Shared)
			}
		}
	}
	got, isNew, err := w.Share(ctx, 0, secret, "root")
	if err != nil || !isNew || strings.Contains(fmt.Sprint(got), token) ||
		strings.Contains(fmt.Sprint(got), "abcdefghij") {
		t.Errorf("shared: %+v, %v, %v", got, isNew, err)
	}
	if _, isNew, err = w.Share(ctx, 0, c, "root"); err != nil || !isNew {
		t.Errorf("sharing under the other repository's id: %v, %v", isNew, err)
	}
	if got, already, err := w.Shareable(ctx, 4, a); err != nil || !already || got.Lesson.ID != c {
		t.Errorf("what is shared already: %+v, %v, %v", got, already, err)
	}
	if got, isNew, err := w.Share(ctx, 0, a, "root"); err != nil || isNew || got.Lesson.ID != c {
		t.Errorf("what is shared under another id: %+v, %v, %v", got, isNew, err)
	}
	all, err = w.Agreements(ctx)
	w.must(err)
	for _, x := range all {
		if x.Shared == nil || x.Waits() {
			t.Errorf("it waits still: %+v", x)
		}
	}
	copies, err := w.store.TakeSharedLessons(ctx, 9, w.now)
	w.must(err)
	if len(copies) != 2 {
		t.Errorf("the third repository takes %+v", copies)
	}
	if copies, err := w.store.TakeSharedLessons(ctx, 10, w.now); err != nil || copies != nil {
		t.Errorf("another owner's takes %+v, %v", copies, err)
	}
	if all, err := w.Agreements(ctx); err != nil || len(all) != 2 || len(all[0].In) != 2 {
		t.Errorf("copies agree as well: %+v, %v", all, err)
	}
}

// Each error contains the reason.
func TestUnshareable(t *testing.T) {
	w := newTeacher(t)
	ctx := context.Background()
	w.own()
	kept, merged := w.hear(7, "Run make generate after a change of the schema."),
		w.hear(7, "Always run make generate after a change of the schema.")
	gone, err := w.store.Lesson(ctx, 7, merged)
	w.must(err)
	gone.State, gone.Into = lesson.Merged, kept
	w.must(w.store.PutLessons(ctx, 7, gone))
	given := lesson.Lesson{ID: "aaaaaaaaaaaa", Repo: 9, Kind: lesson.Success, State: lesson.Active, Text: "Given.",
		From: lesson.Provenance{Source: lesson.FromOrganisation}}
	w.must(w.store.PutLessons(ctx, 9, given))
	var got []string
	for _, id := range []lesson.ID{merged, given.ID, "bbbbbbbbbbbb"} {
		_, _, err := w.Share(ctx, 0, id, "root")
		got = append(got, fmt.Sprint(err))
	}
	_, _, err = w.Unshare(ctx, 0, kept, "anna")
	if !errors.As(err, new(lesson.Refused)) {
		t.Errorf("%T", err)
	}
	want := []string{
		fmt.Sprintf("lesson %s of acme/r7 was merged into %s, which says the same; share that", merged, kept),
		"lesson aaaaaaaaaaaa of acme/r9 came from other repositories; what a repository learned itself is shared",
		"there is no lesson \"bbbbbbbbbbbb\"; `sia lessons agreed` lists what can be shared",
		fmt.Sprintf("lesson %q is not shared; `sia lessons agreed` lists what is", kept),
	}
	if d := cmp.Diff(want, append(got, fmt.Sprint(err))); d != "" {
		t.Error(d)
	}
}

// A lesson that contradicted a removed one can be taught again.
func TestTeachAgainstWhatIsGone(t *testing.T) {
	w := newTeacher(t)
	ctx := context.Background()
	w.own()
	const words = "Run make generate after a change of the schema."
	a := w.hear(8, words)
	w.hear(9, words)
	_, _, err := w.Share(ctx, 0, a, "root")
	w.must(err)
	w.teach(1, sia.Teach{Learn: "Never run make generate after a change of the schema."})
	_, err = w.store.TakeSharedLessons(ctx, repo, w.now)
	w.must(err)
	w.tidy()
	answer, _ := w.teach(2, sia.Teach{Learn: "Never run make generate after changes of the schema."})
	if !strings.Contains(answer, string(a)) {
		t.Fatalf("the copy contradicts nothing: %q", answer)
	}
	_, _, err = w.Unshare(ctx, 0, a, "anna")
	w.must(err)
	answer, done := w.teach(3, sia.Teach{Learn: "Never run make generate after a change of schemas."})
	if !done || strings.Contains(answer, string(a)) {
		t.Errorf("%v %q", done, answer)
	}
}
