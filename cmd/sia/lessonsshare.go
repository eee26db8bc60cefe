package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/learn"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// lessonAgreement is an agreement, as JSON.
type lessonAgreement struct {
	Owner    string         `json:"owner"`
	Lesson   lesson.Lesson  `json:"lesson"`       // exact text that is shared, or would be under its id
	In       []agreedIn     `json:"repositories"` // repositories that learned it, the highest confidence first
	Against  []agreedIn     `json:"against,omitempty"`
	Approval *shareApproval `json:"shared,omitempty"`
}

// agreedIn is the lesson as one repository learned it.
type agreedIn struct {
	Repository string    `json:"repository"`
	Private    bool      `json:"private"`
	ID         lesson.ID `json:"id"`
	Confidence float64   `json:"confidence"`
	Told       string    `json:"told"` // text that would be shared under its id
}

// shareApproval holds who approved sharing, and when.
type shareApproval struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

func agreementOf(a learn.Agreement) lessonAgreement {
	out := lessonAgreement{Owner: a.Owner, In: []agreedIn{}}
	in := func(l learn.AgreedLesson, told string) agreedIn {
		return agreedIn{l.Repo.String(), l.Repo.Private, l.Lesson.ID, l.Lesson.Confidence(time.Now()), told}
	}
	for _, l := range a.In {
		out.In = append(out.In, in(l, l.Shared.Told()))
	}
	for _, l := range a.Against {
		out.Against = append(out.Against, in(l, l.Lesson.Told()))
	}
	if a.Shared != nil {
		out.Lesson, out.Approval = a.Shared.Lesson, &shareApproval{a.Shared.By, a.Shared.At}
	} else {
		out.Lesson = a.In[0].Shared
	}
	return out
}

type lessonsAgreedCmd struct {
	openedDatabase `embed:""`
}

// Run lists agreements.
func (c *lessonsAgreedCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		all, err := lessonTeacher(e, s).Agreements(e.Ctx)
		if err != nil {
			return err
		}
		shown := []lessonAgreement{}
		for _, a := range all {
			shown = append(shown, agreementOf(a))
		}
		if c.Output == "json" {
			return e.JSON(shown)
		}
		if len(shown) == 0 {
			return e.Sayf("no two repositories of one owner have learned the same yet\n")
		}
		for i, a := range shown {
			if i > 0 {
				e.Linef("")
			}
			if err := showAgreement(e, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// showAgreement prints the complete text that is shared, or would be, and its sources.
func showAgreement(e *cli.Env, a lessonAgreement) error {
	l := a.Lesson
	var standing any
	switch {
	case a.Approval != nil:
		standing = fmt.Sprintf("shared with every repository of %s since %s, approved by %s", a.Owner,
			a.Approval.At.Local().Format(time.DateOnly), cmp.Or(a.Approval.By, "somebody on the server"))
	case len(a.Against) > 0:
		standing = e.Style.Amber(fmt.Sprintf("not to be shared in %s: contradicted", a.Owner))
	default:
		standing = fmt.Sprintf("not shared; to share it with every repository of %s: sia lessons share %s", a.Owner, l.ID)
	}
	e.Linef("%s  %s, %s", e.Style.Bold(string(l.ID)), l.Kind, standing)
	w := cli.NewTable(e.Out)
	w.Fieldf("lesson", "%s", l.Text)
	w.Fieldf("when", "%s", l.Context)
	w.Fieldf("corrects", "%s", l.Correction)
	w.Fieldf("test", "%s", l.Test())
	w.Fieldf("tags", "%s", strings.Join(l.Tags, ", "))
	w.Fieldf("found by", "%s", strings.Join(l.Words, ", "))
	for _, r := range a.In {
		words := ""
		if r.Told != l.Told() {
			words = ", in other words: " + r.Told
		}
		w.Fieldf("learned in", "%s as %s, confidence %.2f%s", shownRepository(r), r.ID, r.Confidence, words)
	}
	if len(a.In) == 0 {
		w.Fieldf("learned in", "no two repositories any longer")
	}
	for _, r := range a.Against {
		w.Fieldf("contradicted in", "%s by %s: %s", shownRepository(r), r.ID, r.Told)
	}
	return w.Flush()
}

func shownRepository(r agreedIn) string {
	if r.Private {
		return r.Repository + " (private)"
	}
	return r.Repository
}

type lessonsShareCmd struct {
	openedDatabase `embed:""`
	Lesson         string `arg:"" help:"Its id, as sia lessons agreed shows it."`
}

// Run approves sharing a lesson.
func (c *lessonsShareCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		shared, isNew, err := lessonTeacher(e, s).Share(e.Ctx, 0, lesson.ID(c.Lesson), sia.Actor{Operator: true}.Mention())
		if err != nil {
			return fmt.Errorf("share: %w", err)
		}
		if c.Output == "json" {
			return e.JSON(shared.Lesson)
		}
		if !isNew {
			return e.Sayf("shared already, as %s: %s\n", shared.Lesson.ID, shared.Lesson.Told())
		}
		return e.Sayf("shared, as %[1]s: %[2]s\nEach repository takes it when its next attempt begins. To "+
			"take it back: sia lessons unshare %[1]s\n", shared.Lesson.ID, shared.Lesson.Told())
	})
}

type lessonsUnshareCmd struct {
	openedDatabase `embed:""`
	Lesson         string `arg:"" help:"Its id, as sia lessons agreed shows it."`
}

// Run withdraws the approval.
func (c *lessonsUnshareCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		was, out, err := lessonTeacher(e, s).Unshare(e.Ctx, 0, lesson.ID(c.Lesson), "")
		if err != nil {
			return fmt.Errorf("unshare: %w", err)
		}
		return c.Sayf(e, out, "shared no longer: %s\ncopies: %d removed that were not tried, %d archived that did "+
			"not help, %d kept that helped\n",
			was.Lesson.Told(), out.Removed, out.Archived, out.Kept)
	})
}

// printSharable prints how many lessons of a repository wait for approval to be shared.
func printSharable(e *cli.Env, s *store.Store, repo int64) error {
	all, err := lessonTeacher(e, s).Agreements(e.Ctx)
	if err != nil {
		return err
	}
	n := 0
	for _, a := range all {
		if a.Waits() && slices.ContainsFunc(a.In, func(l learn.AgreedLesson) bool { return l.Repo.ID == repo }) {
			n++
		}
	}
	switch n {
	case 0:
	case 1:
		e.Linef("another repository of the owner learned one of these, too; it can be shared with all of them: sia lessons " +
			"agreed")
	default:
		e.Linef("other repositories of the owner learned %d of these, too; they can be shared with all of them: sia lessons "+
			"agreed", n)
	}
	return nil
}
