package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/text"
)

// ratedLesson is a lesson with its present rating.
type ratedLesson struct {
	lesson.Lesson
	Confidence float64           `json:"confidence"`
	Lower      float64           `json:"confidence_lower"` // its lower 20 % quantile
	Evidence   []lesson.Evidence `json:"evidence,omitempty"`
}

func withRating(l lesson.Lesson) ratedLesson {
	now := time.Now()
	return ratedLesson{Lesson: l, Confidence: l.Confidence(now), Lower: l.Lower(now)}
}

type lessonsListCmd struct {
	repoDatabase `embed:""`
	All          bool        `help:"Archived, forgotten and merged ones too."`
	Kind         lesson.Kind `name:"type" help:"Only of this type: workaround, success, mistake, discovery or tool." enum:",workaround,success,mistake,discovery,tool" default:"" placeholder:"TYPE"`
}

// Run lists lessons.
func (c *lessonsListCmd) Run(e *cli.Env) error {
	err := c.with(e, func(s *store.Store, repo int64) error {
		lessons, err := s.Lessons(e.Ctx, repo)
		if err != nil {
			return err
		}
		evidence, err := s.LessonEvidence(e.Ctx, repo, "")
		if err != nil {
			return err
		}
		var shown []ratedLesson
		for _, l := range lessons {
			if (c.All || l.Live()) && (c.Kind == "" || c.Kind == l.Kind) {
				shown = append(shown, withRating(l))
			}
		}
		slices.SortStableFunc(shown, func(a, b ratedLesson) int {
			return cmp.Or(cmp.Compare(slices.Index(lesson.Kinds, a.Kind), slices.Index(lesson.Kinds, b.Kind)),
				cmp.Compare(b.Lower, a.Lower))
		})
		err = cli.List(e, c.Format, shown, "no lessons: they come from what becomes of attempts, and from `/sia learn`",
			[]string{"LESSON", "TYPE", "STATE", "CONFIDENCE", "FOR", "AGAINST", "SEEN", "LAST SEEN", "WHAT"},
			func(t cli.Table, l ratedLesson) {
				good, bad := l.Counts(time.Now())
				what := l.Told()
				if len(l.Conflicts) > 0 {
					what = "(contradicts another) " + what
				}
				t.Rowf("%s\t%s\t%s\t%.2f\t%.3g\t%.3g\t%d\t%s\t%s", l.ID, l.Kind, l.State, l.Confidence, good, bad,
					l.Occurrences, l.LastSeen.Local().Format(time.DateOnly), text.Clip(text.OneLine(what), 100))
			})
		if err != nil || len(shown) == 0 || c.Output == "json" {
			return err
		}
		e.Linef("\n%s", lesson.Uplift(evidence))
		return printSharable(e, s, repo)
	})
	if errors.Is(err, errNothingLearned) && c.Output == "json" {
		return e.JSON([]ratedLesson{})
	}
	return err
}

type lessonsExportCmd struct {
	repoDatabase `embed:""`
	File         string `arg:"" optional:"" help:"File; default: standard output." type:"path"`
}

// Run writes every lesson of a repository, one a line.
func (c *lessonsExportCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store, repo int64) (err error) {
		lessons, err := s.Lessons(e.Ctx, repo)
		if err != nil {
			return err
		}
		out := e.Out
		if c.File != "" {
			f, openErr := os.OpenFile(c.File, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
			if openErr != nil {
				return fmt.Errorf("export lessons: %w", openErr)
			}
			defer func() { err = errors.Join(err, f.Close()) }()
			out = f
		}
		for _, l := range lessons {
			if err := cli.WriteJSONLine(out, l); err != nil {
				return fmt.Errorf("export lessons: %w", err)
			}
		}
		return nil
	})
}

type lessonsImportCmd struct {
	repoDatabase `embed:""`
	File         string `arg:"" optional:"" help:"File; default: standard input." type:"path"`
}

// Run imports lessons. Known lessons stay unchanged.
func (c *lessonsImportCmd) Run(e *cli.Env) error {
	in := e.Stdin()
	if c.File != "" {
		f, err := os.Open(c.File)
		if err != nil {
			return fmt.Errorf("import lessons: %w", err)
		}
		defer f.Close()
		in = f
	}
	return c.with(e, func(s *store.Store, repo int64) error {
		known, err := s.Lessons(e.Ctx, repo)
		if err != nil {
			return err
		}
		seen := map[lesson.ID]bool{}
		for _, l := range known {
			seen[l.ID] = true
		}
		var fresh []lesson.Lesson
		all, line := 0, 0
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, maxImportLine)
		for lines.Scan() {
			line++
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			l, ok, err := readLesson(lines.Bytes(), repo)
			if err != nil {
				return fmt.Errorf("import lessons: line %d: %w; nothing was imported", line, err)
			}
			if !ok {
				continue
			}
			all++
			if !seen[l.ID] {
				seen[l.ID] = true
				fresh = append(fresh, l)
			}
		}
		if err := lines.Err(); err != nil {
			return fmt.Errorf("import lessons: %w; nothing was imported", err)
		}
		if err := s.PutLessons(e.Ctx, repo, fresh...); err != nil {
			return err
		}
		return c.Sayf(e, map[string]int{"imported": len(fresh), "known": all - len(fresh)},
			"%s imported, known already: %d\n", text.Count(len(fresh), "lesson"), all-len(fresh))
	})
}

// maxImportLine is the maximum length of a line of an import, in bytes.
const maxImportLine = 1 << 20

// readLesson reads a line of an export for a repository. ok is false for what is no lesson any more
// ([lesson.Lesson.Upgrade]).
func readLesson(line []byte, repo int64) (l lesson.Lesson, ok bool, err error) {
	if err := json.Unmarshal(line, &l); err != nil {
		return l, false, fmt.Errorf("it is no lesson: %w", err)
	}
	l.Repo = repo
	l, ok = l.Clean(secret.Mask).Upgrade()
	return l, ok, l.Valid()
}
