package main

import (
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/learn"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/secret"
)

type lessonsCmd struct {
	List    lessonsListCmd    `cmd:"" help:"List what was learned in a repository, the surest first, and its benefit." example:"sia lessons list --repo acme/shop"`
	Show    lessonsShowCmd    `cmd:"" help:"Show one lesson with its evidence." example:"sia lessons show 3fa9c20b17d4 --repo acme/shop"`
	Learn   lessonsLearnCmd   `cmd:"" help:"Have something remembered." example:"sia lessons learn --repo acme/shop \"run make generate after a change of the schema\""`
	Forget  lessonsForgetCmd  `cmd:"" help:"Forget a lesson for good." example:"sia lessons forget 3fa9c20b17d4 --repo acme/shop"`
	Prove   lessonsProveCmd   `cmd:"" help:"Play tasks of the repository's history with a lesson and without, to measure its benefit." example:"sia lessons prove 3fa9c20b17d4 --repo acme/shop"`
	Agreed  lessonsAgreedCmd  `cmd:"" help:"List what several repositories of an owner learned, each by itself, and what is shared." example:"sia lessons agreed"`
	Share   lessonsShareCmd   `cmd:"" help:"Share a lesson that two repositories learned with all of their owner." example:"sia lessons share 3fa9c20b17d4"`
	Unshare lessonsUnshareCmd `cmd:"" help:"Take that back." example:"sia lessons unshare 3fa9c20b17d4"`
	Import  lessonsImportCmd  `cmd:"" help:"Read lessons from JSON Lines." example:"sia lessons import lessons.jsonl --repo acme/shop"`
	Export  lessonsExportCmd  `cmd:"" help:"Write all lessons as JSON Lines." example:"sia lessons export --repo acme/shop"`
}

// repoDatabase selects a server's database and a repository in it.
type repoDatabase struct {
	openedDatabase `embed:""`
	Repo           string `help:"Repository, as owner/name or by GitHub's id; default: the only one that has lessons or tasks." placeholder:"OWNER/NAME" type:"repository"`
}

// with calls f with the database and the repository's id.
func (o repoDatabase) with(e *cli.Env, f func(s *store.Store, repo int64) error) error {
	return o.openedDatabase.with(e, func(s *store.Store) error {
		repo, err := o.id(e, s)
		if err != nil {
			return err
		}
		return f(s, repo)
	})
}

var errNothingLearned = errors.New("nothing was learned yet; name the repository with --repo owner/name to begin")

// id returns GitHub's id of the repository.
func (o repoDatabase) id(e *cli.Env, s *store.Store) (int64, error) {
	if o.Repo != "" {
		return repositoryID(e, s, o.Repo)
	}
	ids, err := s.LessonRepositories(e.Ctx)
	switch {
	case err != nil:
		return 0, err
	case len(ids) == 0:
		return 0, errNothingLearned
	case len(ids) > 1:
		return 0, fmt.Errorf("%d repositories have lessons or tasks; name one with --repo owner/name", len(ids))
	}
	return ids[0], nil
}

// repositoryID returns GitHub's id of a repository that is named owner/name or by that id; 0 for an empty name.
func repositoryID(e *cli.Env, s *store.Store, name string) (int64, error) {
	if name == "" {
		return 0, nil
	}
	if id, err := strconv.ParseInt(name, 10, 64); err == nil && id > 0 {
		return id, nil
	}
	r, err := knownRepository(e, s, name)
	return r.ID, err
}

// knownRepository returns the repository that is named owner/name or by GitHub's id.
func knownRepository(e *cli.Env, s *store.Store, name string) (store.Repository, error) {
	all, err := s.Repositories(e.Ctx, 0)
	if err != nil {
		return store.Repository{}, err
	}
	for _, r := range all {
		if strings.EqualFold(r.String(), name) || strconv.FormatInt(r.ID, 10) == name {
			return r, nil
		}
	}
	return store.Repository{}, fmt.Errorf("this server knows no repository %q; name one on which the app is installed, "+
		"or give GitHub's id", name)
}

// lessonTeacher stores and deletes lessons as the server does for comments on GitHub.
func lessonTeacher(e *cli.Env, s *store.Store) *learn.Lessons {
	return learn.NewLessons(s, &secret.Masker{}, e.Logger, s.Now)
}

// localUser returns the name of the user who runs the command; "" if it is unknown.
func localUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

type lessonsLearnCmd struct {
	repoDatabase `embed:""`
	Text         []string `arg:"" help:"What is to be remembered."`
}

// Validate returns an error for an empty text.
func (c *lessonsLearnCmd) Validate() error {
	l := lesson.NewTaught(0, "", strings.Join(c.Text, " "), sia.Actor{}, sia.Task{}, time.Time{})
	if l.Text == "" {
		return errors.New("say what is to be remembered")
	}
	return nil
}

// Run stores a text as a lesson.
func (c *lessonsLearnCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store, repo int64) error {
		now := s.Now()
		l := lesson.NewTaught(repo, fmt.Sprint("cli/", now.UnixNano()), strings.Join(c.Text, " "),
			sia.Actor{Login: localUser()}, sia.Task{}, now)
		kept, against, err := lessonTeacher(e, s).Learn(e.Ctx, l)
		if err != nil {
			return err
		}
		if kept.ID == l.ID {
			if err := s.LogAct(e.Ctx, store.Act{At: now, What: "learn", Repo: repo, Detail: string(kept.ID)}); err != nil {
				return err
			}
		}
		if c.Output == "json" {
			return e.JSON(kept)
		}
		if kept.ID != l.ID {
			e.Linef("known already, as %s (%s): %s", kept.ID, kept.State, kept.Told())
		} else {
			e.Linef("learned, as %s: %s", kept.ID, kept.Told())
		}
		for _, l := range against {
			e.Linef("%s %s: %s", e.Style.Amber("it contradicts"), l.ID, l.Told())
		}
		return nil
	})
}

type lessonsForgetCmd struct {
	repoDatabase `embed:""`
	Lesson       []string `arg:"" help:"Its id, or words of it."`
}

// Run forgets a lesson.
func (c *lessonsForgetCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store, repo int64) error {
		text := strings.Join(c.Lesson, " ")
		found, done, err := lessonTeacher(e, s).Forget(e.Ctx, repo, fmt.Sprint("cli/", s.Now().UnixNano()), text)
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return fmt.Errorf("no lesson is like %q; `sia lessons list` shows them all", text)
		case !done:
			several := fmt.Sprintf("several lessons are like %q; name one by its id:", text)
			for _, l := range found {
				several += fmt.Sprintf("\n  %s  %s", l.ID, l.Told())
			}
			return errors.New(several)
		}
		act := store.Act{At: s.Now(), What: "forget", Repo: repo, Detail: string(found[0].ID)}
		if err := s.LogAct(e.Ctx, act); err != nil {
			return err
		}
		return c.Sayf(e, found[0], "forgotten for good: %s\n", found[0].Told())
	})
}

type lessonsShowCmd struct {
	repoDatabase `embed:""`
	Lesson       string `arg:"" help:"Its id."`
}

// Run shows one lesson.
func (c *lessonsShowCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store, repo int64) error {
		l, err := s.Lesson(e.Ctx, repo, lesson.ID(c.Lesson))
		if errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("there is no lesson %q; `sia lessons list --all` shows them all", c.Lesson)
		}
		if err != nil {
			return err
		}
		evidence, err := s.LessonEvidence(e.Ctx, repo, l.ID)
		if err != nil {
			return err
		}
		shown := withRating(l)
		shown.Evidence = evidence
		return c.Print(e, shown, func() error { return showLesson(e, shown) })
	})
}

func showLesson(e *cli.Env, l ratedLesson) error {
	w := cli.NewTable(e.Out)
	e.Linef("%s  %s, %s", e.Style.Bold(string(l.ID)), l.Kind, l.State)
	w.Fieldf("lesson", "%s", l.Text)
	w.Fieldf("when", "%s", l.Context)
	w.Fieldf("corrects", "%s", l.Correction)
	w.Fieldf("from", "%s", lessonOrigin(l.From))
	w.Fieldf("done then", "%s", l.Action)
	w.Fieldf("outcome", "%s", l.Outcome)
	w.Fieldf("seen", "%d times, last %s", l.Occurrences, l.LastSeen.Local().Format(time.DateTime))
	w.Fieldf("tags", "%s", strings.Join(l.Tags, ", "))
	w.Fieldf("tools", "%s", strings.Join(l.Tools, ", "))
	w.Fieldf("merged into", "%s", l.Into)
	for _, id := range l.Conflicts {
		w.Fieldf("contradicts", "%s", id)
	}
	w.Fieldf("confidence", "%.2f, at least %.2f four times out of five; %.3g for and %.3g against", l.Confidence, l.Lower,
		l.Lesson.Good, l.Lesson.Bad)
	w.Fieldf("telling it", "%s", lesson.Uplift(l.Evidence))
	for _, ev := range l.Evidence {
		w.Fieldf("evidence", "%s  %+.3g for, %+.3g against: %s", ev.At.Local().Format(time.DateTime), ev.Good, ev.Bad, ev.Why)
	}
	return w.Flush()
}

func lessonOrigin(p lesson.Provenance) string {
	var parts []string
	switch p.Source {
	case lesson.FromPerson:
		parts = append(parts, "a person")
		if p.By.Login != "" {
			parts[0] = "@" + p.By.Login
		}
	case lesson.FromPattern:
		parts = append(parts, "a pattern in several issues")
	case lesson.FromOrganisation:
		parts = append(parts, "other repositories of the owner, approved by a person on the server")
	default:
		parts = append(parts, "an attempt's result")
	}
	if p.Issue != 0 {
		parts = append(parts, fmt.Sprintf("issue #%d", p.Issue))
	}
	if p.Attempt != 0 {
		parts = append(parts, fmt.Sprintf("attempt %d", p.Attempt))
	}
	return strings.Join(parts, ", ")
}
