package store_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// manyLessons is the number of lessons for measuring searches (docs/adr/0007-lesson-index.md).
const manyLessons = 100_000

// prose generates texts. The frequencies of their words follow Zipf's law, as in language, with 20,000 different words.
type prose struct {
	r *rand.Rand
	z *rand.Zipf
}

func newProse(seed uint64) prose {
	r := rand.New(rand.NewPCG(seed, 1))
	return prose{r, rand.NewZipf(r, 1.1, 8, 20_000)}
}

func (p prose) words(n int) string {
	var b strings.Builder
	for range n {
		for x := p.z.Uint64() + 26; x > 0; x /= 26 {
			b.WriteByte(byte('a' + x%26))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// manyTaught fills a repository with lessons.
func manyTaught(b *testing.B, s *store.Store, repo int64) {
	b.Helper()
	p, now := newProse(1), time.Now()
	batch := make([]lesson.Lesson, 0, 5000)
	for i := range manyLessons {
		l := lesson.NewTaught(repo, fmt.Sprint(i), p.words(12), sia.Actor{Login: "anna"}, sia.Task{}, now)
		l.Words = lesson.Words(p.words(60), 80)
		if batch = append(batch, l); len(batch) == cap(batch) || i == manyLessons-1 {
			if err := s.PutLessons(context.Background(), repo, batch...); err != nil {
				b.Fatal(err)
			}
			batch = batch[:0]
		}
	}
}

// BenchmarkSearchLessons searches 100,000 lessons for an issue of 150 words.
func BenchmarkSearchLessons(b *testing.B) {
	s := storetest.Open(b, store.Config{})
	began := time.Now()
	manyTaught(b, s, 7)
	b.Logf("%d lessons saved in %s", manyLessons, time.Since(began).Round(time.Second))
	p := newProse(2)
	var took []time.Duration
	for b.Loop() {
		words := lesson.Words(p.words(150), 400)
		began := time.Now()
		found, err := s.SearchLessons(context.Background(), 7, words, 20, anyHit)
		took = append(took, time.Since(began))
		if err != nil || len(found) == 0 {
			b.Fatal(len(found), err)
		}
	}
	slices.Sort(took)
	ms := func(q float64) float64 {
		return math.Round(float64(took[int(q*float64(len(took)-1))].Microseconds())) / 1000
	}
	b.ReportMetric(ms(.5), "p50-ms")
	b.ReportMetric(ms(.99), "p99-ms")
}
