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

// Agreement is a lesson that several repositories of one owner learned independently, or that a user shared among them.
type Agreement struct {
	Owner        string // login
	Installation int64
	In           []AgreedLesson      // by descending confidence; empty if a shared lesson is no longer agreed on
	Against      []AgreedLesson      // lessons that advise the opposite
	Shared       *store.SharedLesson // nil: not approved
}

// AgreedLesson is a lesson of an agreement in one repository.
type AgreedLesson struct {
	Repo   store.Repository
	Lesson lesson.Lesson // the repository's version; in In without quotes in its context
	Shared lesson.Lesson // exactly as it would be shared
}

// Waits reports whether the lesson can be shared but has not been yet.
func (a Agreement) Waits() bool { return a.Shared == nil && len(a.Against) == 0 }

// Agreements returns the agreements of all owners, by owner: first those that wait for approval, then contradicted
// ones, then shared ones; each group by descending confidence.
func (ls *Lessons) Agreements(ctx context.Context) ([]Agreement, error) { return ls.agreements(ctx, 0) }

// agreements are those of one installation; 0: of all.
func (ls *Lessons) agreements(ctx context.Context, installation int64) ([]Agreement, error) {
	repos, err := ls.store.Repositories(ctx, installation)
	if err != nil {
		return nil, err
	}
	shared, err := ls.store.SharedLessons(ctx)
	if err != nil {
		return nil, err
	}
	if installation != 0 {
		shared = slices.DeleteFunc(shared, func(s store.SharedLesson) bool { return s.Installation != installation })
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
	seen := map[int]bool{} // by index in shared
	for installation, of := range lessons {
		for _, found := range lesson.Agreements(of, sia.DefaultSettings().Learning.MinConfidence, ls.now()) {
			a := Agreement{Owner: owners[installation], Installation: installation}
			for _, l := range found.Lessons {
				a.In = append(a.In, AgreedLesson{known[l.Repo], l, found.Shared(l).Clean(ls.secrets.Mask)})
			}
			for _, l := range found.Against {
				a.Against = append(a.Against, AgreedLesson{Repo: known[l.Repo], Lesson: l})
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

// Share approves, on behalf of a user, that all repositories of an installation get a lesson that two of them learned;
// 0: whichever installation it is. An equivalent lesson that is already shared stays as it was approved; isNew is false
// then. The error is as that of [Lessons.Shareable].
func (ls *Lessons) Share(
	ctx context.Context, installation int64, id lesson.ID, by string,
) (shared store.SharedLesson, isNew bool, err error) {
	shared, already, err := ls.Shareable(ctx, installation, id)
	if err != nil || already {
		return shared, false, err
	}
	shared.By, shared.At = by, ls.now()
	return shared, true, ls.store.ShareLesson(ctx, shared)
}

// Shareable returns a lesson of an installation as it would be shared, or already is; 0: of any installation. The error
// is [lesson.Refused] if it can't be shared.
func (ls *Lessons) Shareable(
	ctx context.Context, installation int64, id lesson.ID,
) (v store.SharedLesson, already bool, err error) {
	all, err := ls.agreements(ctx, installation)
	if err != nil {
		return v, false, err
	}
	for _, a := range all {
		i := slices.IndexFunc(a.In, func(l AgreedLesson) bool { return l.Lesson.ID == id })
		switch {
		case a.Shared != nil && (i >= 0 || a.Shared.Lesson.ID == id):
			return *a.Shared, true, nil
		case i < 0:
		case len(a.Against) > 0:
			return v, false, refused("lesson %s of %s advises the opposite: %s; have one of the two forgotten first",
				a.Against[0].Lesson.ID, a.Against[0].Repo, a.Against[0].Lesson.Told())
		default:
			return store.SharedLesson{Installation: a.Installation, Lesson: a.In[i].Shared}, false, nil
		}
	}
	return v, false, ls.unshareable(ctx, installation, id)
}

// refused is the reason why a lesson can't be shared.
func refused(format string, args ...any) error { return lesson.Refused(fmt.Sprintf(format, args...)) }

// unshareable returns the reason why no agreement contains a lesson.
func (ls *Lessons) unshareable(ctx context.Context, installation int64, id lesson.ID) error {
	repos, err := ls.store.Repositories(ctx, installation)
	if err != nil {
		return err
	}
	why := refused("there is no lesson %q; `sia lessons agreed` lists what can be shared", id)
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
		case l.From.Source == lesson.FromOrganisation: // the original may be found in another repository
			why = refused("lesson %s of %s came from other repositories; what a repository learned itself is shared", id, r)
			continue
		case l.State == lesson.Merged:
			return refused("lesson %s of %s was merged into %s, which says the same; share that", id, r, l.Into)
		case !l.Live():
			return refused("lesson %s of %s is %s: no attempt gets it, so it is not shared", id, r, l.State)
		case l.Kind == lesson.Tool:
			return refused("lesson %s is about a tool in %s, which says nothing about other repositories", id, r)
		case l.Confidence(ls.now()) < least:
			return refused("lesson %s of %s has a confidence of %.2f, and %.2f is asked for", id, r, l.Confidence(ls.now()),
				least)
		}
		return refused("no other repository of %s has learned what lesson %s of %s says; a lesson is shared when two "+
			"repositories agree", r.Owner, id, r)
	}
	return why
}

// Unshare revokes an approval in an installation, 0: whichever it is, on behalf of a user, and returns what was done
// with the copies. The error is [lesson.Refused] if the lesson is not shared.
func (ls *Lessons) Unshare(
	ctx context.Context, installation int64, id lesson.ID, by string,
) (was store.SharedLesson, out store.Unshared, err error) {
	all, err := ls.store.SharedLessons(ctx)
	if err != nil {
		return was, out, err
	}
	i := slices.IndexFunc(all, func(s store.SharedLesson) bool {
		return s.Lesson.ID == id && (installation == 0 || s.Installation == installation)
	})
	if i >= 0 {
		was = all[i]
		out, err = ls.store.UnshareLesson(ctx, was.Installation, id, by)
	}
	if i < 0 || errors.Is(err, store.ErrNotFound) { // another user may have been faster
		err = refused("lesson %q is not shared; `sia lessons agreed` lists what is", id)
	}
	return was, out, err
}

// TakeShared adds to a repository the lessons that are shared with it and that it lacks. If it has learned the same
// itself, or forgotten it, nothing changes.
func (ls *Lessons) TakeShared(ctx context.Context, repo int64) error {
	copies, err := ls.store.TakeSharedLessons(ctx, repo, ls.now())
	if err != nil {
		return err
	}
	for _, l := range copies {
		if err := ls.mergeSimilar(ctx, l); err != nil {
			return err
		}
		ls.log.InfoContext(ctx, "a shared lesson was taken", "repo_id", repo, "lesson", l.ID)
	}
	return nil
}
