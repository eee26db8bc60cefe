package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// Agreement is what several repositories of one owner learned, each by itself, or
// what a person shared among them.
type Agreement struct {
	Owner        string // login
	Installation int64
	In           []Learned           // the surest first; empty when what is shared is agreed on no longer
	Against      []Learned           // what advises the opposite
	Shared       *store.SharedLesson // nil: no person approved it
}

// Learned is a lesson of an agreement in one repository.
type Learned struct {
	Repo   store.Repository
	Lesson lesson.Lesson // as it stands there; without a context's quotes where the agreement is
	Shared lesson.Lesson // exactly as it would be shared
}

// Waits reports whether a person may share it and nobody has yet.
func (a Agreement) Waits() bool { return a.Shared == nil && len(a.Against) == 0 }

// Agreements are those of all owners, by owner: first what waits for a person's
// approval, then what is contradicted, then what is shared; in each, the surest first.
func (ls *Lessons) Agreements(ctx context.Context) ([]Agreement, error) {
	repos, err := ls.store.Repositories(ctx, 0)
	if err != nil {
		return nil, err
	}
	shared, err := ls.store.SharedLessons(ctx)
	if err != nil {
		return nil, err
	}
	installations, err := ls.store.Installations(ctx)
	if err != nil {
		return nil, err
	}
	owners := map[int64]string{}
	for _, in := range installations {
		owners[in.ID] = in.Account
	}
	known := map[int64]store.Repository{}
	lessons := map[int64][]lesson.Lesson{} // by installation
	for _, r := range repos {
		known[r.ID] = r
		of, err := ls.store.Lessons(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		lessons[r.Installation] = append(lessons[r.Installation], of...)
	}
	var all []Agreement
	seen := map[int]bool{} // by the place in shared
	for installation, of := range lessons {
		for _, found := range lesson.Agreements(of, sia.DefaultSettings().Learning.MinConfidence, ls.now()) {
			a := Agreement{Owner: owners[installation], Installation: installation}
			for _, l := range found.Lessons {
				a.In = append(a.In, Learned{known[l.Repo], l, found.Shared(l).Clean(ls.secrets.Mask)})
			}
			for _, l := range found.Against {
				a.Against = append(a.Against, Learned{Repo: known[l.Repo], Lesson: l})
			}
			if i := slices.IndexFunc(shared,
				func(s store.SharedLesson) bool { return s.Installation == installation && found.Covers(s.Lesson) }); i >= 0 {
				a.Shared, seen[i] = &shared[i], true
			}
			all = append(all, a)
		}
	}
	for i, s := range shared {
		if !seen[i] {
			all = append(all, Agreement{Owner: owners[s.Installation], Installation: s.Installation, Shared: &s})
		}
	}
	turn := func(a Agreement) int {
		switch {
		case a.Shared != nil:
			return 2
		case len(a.Against) > 0:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b Agreement) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Installation, b.Installation),
			cmp.Compare(turn(a), turn(b)))
	})
	return all, nil
}

// Share approves, as somebody, that every repository of an owner is given a lesson
// that two of them learned. What says the same and is shared already stays as it
// was approved; isNew is false then.
func (ls *Lessons) Share(
	ctx context.Context, id lesson.ID, by string,
) (shared store.SharedLesson, isNew bool, err error) {
	all, err := ls.Agreements(ctx)
	if err != nil {
		return shared, false, err
	}
	for _, a := range all {
		i := slices.IndexFunc(a.In, func(l Learned) bool { return l.Lesson.ID == id })
		switch {
		case a.Shared != nil && (i >= 0 || a.Shared.Lesson.ID == id):
			return *a.Shared, false, nil
		case i < 0:
		case len(a.Against) > 0:
			return shared, false, fmt.Errorf("lesson %s of %s advises the opposite: %s; have one of the two forgotten first",
				a.Against[0].Lesson.ID, a.Against[0].Repo, a.Against[0].Lesson.Told())
		default:
			shared = store.SharedLesson{Installation: a.Installation, Lesson: a.In[i].Shared, By: by, At: ls.now()}
			return shared, true, ls.store.ShareLesson(ctx, shared)
		}
	}
	return shared, false, ls.unshareable(ctx, id)
}

// unshareable says why no agreement has a lesson.
func (ls *Lessons) unshareable(ctx context.Context, id lesson.ID) error {
	repos, err := ls.store.Repositories(ctx, 0)
	if err != nil {
		return err
	}
	why := fmt.Errorf("there is no lesson %q; `sia lessons agreed` lists what can be shared", id)
	for _, r := range repos {
		l, err := ls.store.Lesson(ctx, r.ID, id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		least := sia.DefaultSettings().Learning.MinConfidence
		switch {
		case l.From.Source == lesson.FromOrganisation: // what it is a copy of may be found yet
			why = fmt.Errorf("lesson %s of %s came from other repositories; what a repository learned itself is shared", id, r)
			continue
		case l.State == lesson.Merged:
			return fmt.Errorf("lesson %s of %s was merged into %s, which says the same; share that", id, r, l.Into)
		case !l.Live():
			return fmt.Errorf("lesson %s of %s is %s: it is told nowhere, so it is not shared", id, r, l.State)
		case l.Kind == lesson.Tool || l.Kind == lesson.Model:
			return fmt.Errorf("lesson %s is about a %s in %s, which says nothing about other repositories", id, l.Kind, r)
		case l.Confidence(ls.now()) < least:
			return fmt.Errorf("lesson %s of %s has a confidence of %.2f, and %.2f is asked for", id, r, l.Confidence(ls.now()),
				least)
		}
		return fmt.Errorf("no other repository of %s has learned what lesson %s of %s says; a lesson is shared when two "+
			"repositories agree", r.Owner, id, r)
	}
	return why
}

// Unshare takes an approval back, and says what was done with the copies.
func (ls *Lessons) Unshare(ctx context.Context, id lesson.ID) (was store.SharedLesson, out store.Unshared, err error) {
	all, err := ls.store.SharedLessons(ctx)
	if err != nil {
		return was, out, err
	}
	i := slices.IndexFunc(all, func(s store.SharedLesson) bool { return s.Lesson.ID == id })
	if i < 0 {
		return was, out, fmt.Errorf("lesson %q is not shared; `sia lessons agreed` lists what is", id)
	}
	out, err = ls.store.UnshareLesson(ctx, all[i].Installation, id)
	return all[i], out, err
}

// TakeShared gives a repository what is shared with it and what it does not have.
// Where it has learned the same itself, or forgotten it, that stands.
func (ls *Lessons) TakeShared(ctx context.Context, repo int64) error {
	copies, err := ls.store.TakeSharedLessons(ctx, repo, ls.now())
	if err != nil {
		return err
	}
	for _, l := range copies {
		if err := ls.mergeLike(ctx, l); err != nil {
			return err
		}
		ls.log.InfoContext(ctx, "a shared lesson was taken", "repo_id", repo, "lesson", l.ID)
	}
	return nil
}
