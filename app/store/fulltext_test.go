package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// BenchmarkFullText asks the lists of lessons and SQLite's FTS5 the same: which of
// 100,000 lessons share words with an issue that one of them is about. FTS5 gets
// the rarest words until they stand in so many lessons together, as the lists do.
// docs/adr/0007-lesson-index.md quotes it.
func BenchmarkFullText(b *testing.B) {
	const want, questions = 12, 100
	s := storetest.Open(b, store.Config{})
	full, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "full.db")+"?_pragma=synchronous(off)")
	if err != nil {
		b.Fatal(err)
	}
	defer full.Close()
	have := fillFullText(b, full)
	manyTaught(b, s, 7)

	p, issues := newProse(1), newProse(2)
	var asked [][]string
	var about []string
	for i := range manyLessons {
		text := p.words(12)
		p.words(60)
		if i%(manyLessons/questions) == 0 {
			asked = append(asked, lesson.Words(text+" "+issues.words(120), 400))
			about = append(about, text)
		}
	}
	run := func(name string, search func(words []string, text string) bool) {
		b.Run(name, func(b *testing.B) {
			hits, n := 0, 0
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if search(asked[n%questions], about[n%questions]) {
					hits++
				}
				took = append(took, time.Since(began))
				n++
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(100*float64(hits)/float64(n), "%found")
		})
	}
	run("lists", func(words []string, text string) bool {
		found, err := s.SearchLessons(context.Background(), 7, words, want)
		if err != nil {
			b.Fatal(err)
		}
		return slices.ContainsFunc(found, func(f lesson.SearchHit) bool { return f.Text == strings.TrimSpace(text) })
	})
	for _, most := range []int{300, 10_000} {
		run(fmt.Sprintf("fts5-%d", most), func(words []string, text string) bool {
			return slices.Contains(searchFullText(b, full, rarestOf(words, have, most), want), strings.TrimSpace(text))
		})
	}
}

// fillFullText puts the lessons of manyTaught into a table of FTS5, and counts
// the lessons that have each word.
func fillFullText(b *testing.B, full *sql.DB) (have map[string]int) {
	b.Helper()
	if _, err := full.Exec(`CREATE VIRTUAL TABLE t USING fts5 (terms, content = '', tokenize = 'unicode61');
		CREATE TABLE l (id integer PRIMARY KEY, lesson text)`); err != nil {
		b.Fatal(err)
	}
	tx, err := full.Begin()
	if err != nil {
		b.Fatal(err)
	}
	have = map[string]int{}
	p, now := newProse(1), time.Now()
	for i := range manyLessons {
		l := lesson.NewTaught(7, fmt.Sprint(i), p.words(12), sia.Actor{Login: "anna"}, sia.Task{}, now)
		l.Words = lesson.Words(p.words(60), 80)
		terms := l.Terms()
		for _, t := range terms {
			have[t]++
		}
		if _, err := tx.Exec(`INSERT INTO t (rowid, terms) VALUES (?, ?)`, i+1, strings.Join(terms, " ")); err != nil {
			b.Fatal(err)
		}
		if _, err := tx.Exec(`INSERT INTO l VALUES (?, ?)`, i+1, l.Text); err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	return have
}

// rarestOf are the rarest words, at most 64, until they stand in most lessons together.
func rarestOf(words []string, have map[string]int, most int) []string {
	known := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return have[w] == 0 })
	slices.SortStableFunc(known, func(a, b string) int { return have[a] - have[b] })
	known = known[:min(len(known), 64)]
	sum := 0
	for i, w := range known {
		if sum += have[w]; sum > most && i > 0 {
			return known[:i]
		}
	}
	return known
}

// searchFullText gives the texts of the lessons that rank best.
func searchFullText(b *testing.B, full *sql.DB, words []string, limit int) (texts []string) {
	b.Helper()
	rows, err := full.Query(`SELECT l.lesson FROM (SELECT rowid AS id FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?) f
		JOIN l ON l.id = f.id`, `"`+strings.Join(words, `" OR "`)+`"`, limit)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			b.Fatal(err)
		}
		texts = append(texts, text)
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return texts
}
