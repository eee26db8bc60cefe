package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

type lessonsCmd struct {
	Lessons    int `help:"Lessons among which those for a prompt are found." default:"100000"`
	cli.Format `embed:""`
}

// Run measures the search for a prompt's lessons and prints a table.
func (c *lessonsCmd) Run(e *cli.Env) error {
	figures, err := c.measure(e)
	if err != nil {
		return err
	}
	return e.Figures(c.Output, figures)
}

const (
	benchRepo     = 7
	benchSearches = 300
	benchFound    = 40 // the server's limit for an attempt
	benchScans    = 3  // full scans, which are slow
)

// proseMaker generates texts with word frequencies as in natural language: Zipf's law over 20,000 words.
type proseMaker struct{ zipf *rand.Zipf }

func newProseMaker(seed uint64) proseMaker {
	return proseMaker{rand.NewZipf(rand.New(rand.NewPCG(seed, 1)), 1.1, 8, 20_000)} //nolint:gosec // the same in every run
}

func (p proseMaker) words(n int) string {
	var b strings.Builder
	for range n {
		for x := p.zipf.Uint64() + 26; x > 0; x /= 26 {
			b.WriteByte(byte('a' + x%26))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// measure compares the search with a scan of every lesson that uses the same words and the same ranking.
func (c *lessonsCmd) measure(e *cli.Env) (figures []cli.Figure, err error) {
	fmt.Fprintf(e.Err, "lessons: %d…\n", c.Lessons)
	dir, err := os.MkdirTemp("", "sia-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := store.Open(e.Ctx, store.Config{URL: filepath.Join(dir, "sia.db")})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, _, err := s.Migrate(e.Ctx); err != nil {
		return nil, err
	}
	wanted, err := c.fill(e, s)
	if err != nil {
		return nil, err
	}
	choice := lesson.ChooseOptions{Task: "7-1", Most: 5, MinConfidence: .5, Now: time.Now()}
	issues := newProseMaker(2)
	var ours, scans []time.Duration
	hits := 0
	var prompts [][]string
	for i := range benchSearches {
		want := wanted[i%len(wanted)]
		// An issue shares words with one lesson, among many unrelated words.
		words := lesson.Words(want.Text+" "+issues.words(120), 400)
		prompts = append(prompts, words)
		began := time.Now()
		found, err := s.SearchLessons(e.Ctx, benchRepo, words, benchFound, choice.Usable)
		if err != nil {
			return nil, err
		}
		lesson.Choose(found, choice)
		ours = append(ours, time.Since(began))
		if slices.ContainsFunc(found, func(f lesson.SearchHit) bool { return f.ID == want.ID }) {
			hits++
		}
	}
	// After the searches, not between them: garbage of a scan would be collected during the next search.
	for _, words := range prompts[:min(len(prompts), benchScans)] {
		began := time.Now()
		best, err := scanLessons(e, s, words, benchFound)
		if err != nil {
			return nil, err
		}
		lesson.Choose(best, choice)
		scans = append(scans, time.Since(began))
	}
	scanned := cli.Quantile(scans, .5)
	return []cli.Figure{
		cli.Measured("lessons: found and chosen, p50", cli.Quantile(ours, .5), "ms",
			"", fmt.Sprintf("from %d, for issues of about 130 "+
				"words; the lesson that each issue was made from was among the %d found %d times of %d", c.Lessons, benchFound,
				hits, benchSearches)),
		cli.Measured("lessons: found and chosen, p99", cli.Quantile(ours, .99), "ms", "≤ 10", ""),
		cli.Measured("lessons: full scan, for comparison", scanned, "ms", "",
			fmt.Sprintf("%.0f times as long", scanned/max(cli.Quantile(ours, .5), .001))),
	}, nil
}

// fill stores many lessons and returns some of them.
func (c *lessonsCmd) fill(e *cli.Env, s *store.Store) (some []lesson.Lesson, err error) {
	const batch = 5000
	p, now := newProseMaker(1), time.Now()
	var lessons []lesson.Lesson
	for i := range c.Lessons {
		l := lesson.NewTaught(benchRepo, fmt.Sprint(i), p.words(12), sia.Actor{Login: "ada"}, sia.Task{}, now)
		l.Words = lesson.Words(p.words(60), 80)
		if i%max(1, c.Lessons/benchSearches) == 0 {
			some = append(some, l)
		}
		if lessons = append(lessons, l); len(lessons) == batch || i == c.Lessons-1 {
			if err := s.PutLessons(e.Ctx, benchRepo, lessons...); err != nil {
				return nil, err
			}
			lessons = lessons[:0]
		}
	}
	return some, nil
}

// scanLessons ranks every lesson and returns the best.
func scanLessons(e *cli.Env, s *store.Store, words []string, limit int) ([]lesson.SearchHit, error) {
	all, err := s.Lessons(e.Ctx, benchRepo)
	if err != nil {
		return nil, err
	}
	have := map[string]int{}
	for _, l := range all {
		for _, t := range l.Terms() {
			have[t]++
		}
	}
	weights := lesson.WeighWords(words, have, len(all))
	found := make([]lesson.SearchHit, 0, len(all))
	for _, l := range all {
		rank, shared := weights.Rank(l.Terms())
		found = append(found, lesson.SearchHit{Lesson: l, Rank: rank, Shared: shared})
	}
	slices.SortFunc(found, lesson.ByRank)
	return found[:min(len(found), limit)], nil
}
