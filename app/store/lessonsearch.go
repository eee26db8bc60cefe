package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/lesson"
)

// Shelves are where lessons stand to be found.
const (
	live    = "x" // attempts may be told them
	retired = "z" // archived or forgotten
)

// shelf is where a lesson stands; "" for one that is not to be found at all: it
// is merged into another, or told to nobody.
func shelf(l lesson.Lesson) string {
	switch {
	case l.State == lesson.Merged || l.Kind == lesson.Model:
		return ""
	case l.Live():
		return live
	}
	return retired
}

// lessonTerm is what a word is kept as: letters and digits only, so that the
// tokenizer takes it for one word, and different for each repository and shelf.
// The empty word is one that every lesson of the shelf has.
func lessonTerm(repo int64, shelf, word string) string {
	return "r" + strconv.FormatInt(repo, 10) + shelf + word
}

// index notes what the full text has to become for a lesson.
func (b *lessonBook) index(old keptLesson, l lesson.Lesson, seq int64) {
	var before, after []string
	if old.seq != 0 {
		before = b.terms(old.Lesson)
	}
	after = b.terms(l)
	if slices.Equal(before, after) {
		return
	}
	for _, t := range before {
		b.more[t]--
	}
	for _, t := range after {
		b.more[t]++
	}
	b.texts[seq] = strings.Join(after, " ")
}

// flush writes the full text and how many lessons have each term: all at once,
// for the full text is written out before every statement that could be undone.
func (b *lessonBook) flush() error {
	type row struct {
		Seq   int64  `json:"seq"`
		Terms string `json:"terms"`
	}
	type count struct {
		Term string `json:"term"`
		N    int    `json:"n"`
	}
	// Never nil: of null, json_each makes a row.
	rows, counts := []row{}, []count{}
	for _, seq := range slices.Sorted(maps.Keys(b.texts)) {
		rows = append(rows, row{seq, b.texts[seq]})
	}
	for _, term := range slices.Sorted(maps.Keys(b.more)) {
		if n := b.more[term]; n != 0 {
			counts = append(counts, count{term, n})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	texts, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("encode the lessons' terms: %w", err)
	}
	tally, err := json.Marshal(counts)
	if err != nil {
		return fmt.Errorf("encode the lessons' terms: %w", err)
	}
	for _, q := range []struct{ sql, arg string }{
		{`DELETE FROM lessons_text WHERE rowid IN (SELECT value ->> 'seq' FROM json_each(?))`, string(texts)},
		{`INSERT INTO lessons_text (rowid, terms) SELECT value ->> 'seq', value ->> 'terms' FROM json_each(?) WHERE value ->> 'terms' <> ''`, string(texts)},
		{`INSERT INTO lesson_terms (term, n) SELECT value ->> 'term', value ->> 'n' FROM json_each(?) WHERE true
			ON CONFLICT (term) DO UPDATE SET n = lesson_terms.n + excluded.n`, string(tally)},
		{`DELETE FROM lesson_terms WHERE n <= 0 AND term IN (SELECT value ->> 'term' FROM json_each(?))`, string(tally)},
	} {
		if _, err := b.tx.ExecContext(b.ctx, q.sql, q.arg); err != nil {
			return err
		}
	}
	return nil
}

func (b *lessonBook) terms(l lesson.Lesson) []string {
	on := shelf(l)
	if on == "" {
		return nil
	}
	terms := []string{lessonTerm(b.repo, on, "")}
	for _, w := range l.Terms() {
		terms = append(terms, lessonTerm(b.repo, on, w))
	}
	return terms
}

// SearchLessons finds the lessons of a repository that attempts may be told and
// that share words with a search, best first, at most limit. The words are as
// [lesson.Words] makes them. Its work is bounded whatever the number of lessons:
// of the words, the rarest are searched for, until they stand in searchMost
// lessons together or are searchTerms; all of them count in the rank. Where even
// the rarest stands in more, it looks at the newest of those only.
func (s *Store) SearchLessons(ctx context.Context, repo int64, words []string, limit int) ([]lesson.Found, error) {
	return s.searchLessons(ctx, repo, words, limit, live)
}

// LessonsLike is SearchLessons among archived and forgotten lessons as well.
func (s *Store) LessonsLike(ctx context.Context, repo int64, words []string, limit int) ([]lesson.Found, error) {
	return s.searchLessons(ctx, repo, words, limit, live, retired)
}

const (
	searchWords = 400 // words that a search looks at
	searchTerms = 32  // of them, that it searches for
	searchMost  = 300 // lessons that these may stand in together
	searchSpare = 2   // times as many are read as are wanted, since the full text ranks otherwise
)

func (s *Store) searchLessons(ctx context.Context, repo int64, words []string, limit int, shelves ...string) ([]lesson.Found, error) {
	words = words[:min(len(words), searchWords)]
	have, all, err := s.haveWords(ctx, repo, words, shelves)
	op := fmt.Sprintf("search the lessons of repository %d", repo)
	if err != nil {
		return nil, s.explain(op, err)
	}
	chosen := rarest(words, have)
	var terms []string
	for _, w := range chosen {
		for _, on := range shelves {
			terms = append(terms, `"`+lessonTerm(repo, on, strings.ReplaceAll(w, `"`, ""))+`"`)
		}
	}
	if len(terms) == 0 {
		return nil, nil
	}
	order := "rank"
	if have[chosen[0]] > searchMost {
		order = "rowid DESC"
	}
	lessons, err := collect(ctx, s.r, scanLesson, `SELECT l.lesson FROM
		(SELECT rowid AS seq FROM lessons_text WHERE lessons_text MATCH ? ORDER BY `+order+` LIMIT ?) f
		JOIN lessons l ON l.seq = f.seq`, strings.Join(terms, " OR "), searchSpare*limit)
	if err != nil {
		return nil, s.explain(op, err)
	}
	weights := lesson.Weigh(words, have, all)
	found := make([]lesson.Found, 0, len(lessons))
	for _, l := range lessons {
		found = append(found, weights.Rank(l))
	}
	slices.SortFunc(found, lesson.ByRank)
	return found[:min(len(found), limit)], nil
}

// haveWords is how many lessons have each word, and how many there are.
func (s *Store) haveWords(ctx context.Context, repo int64, words, shelves []string) (have map[string]int, all int, err error) {
	word := map[string]string{}
	for _, on := range shelves {
		word[lessonTerm(repo, on, "")] = ""
		for _, w := range words {
			word[lessonTerm(repo, on, w)] = w
		}
	}
	terms := make([]string, 0, len(word))
	for t := range word {
		terms = append(terms, t)
	}
	list, err := json.Marshal(terms)
	if err != nil {
		return nil, 0, err
	}
	rows, err := s.r.QueryContext(ctx, `SELECT term, n FROM lesson_terms WHERE term IN (SELECT value FROM json_each(?))`, string(list))
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	have = map[string]int{}
	for rows.Next() {
		var term string
		var n int
		if err := rows.Scan(&term, &n); err != nil {
			return nil, 0, err
		}
		if w := word[term]; w != "" {
			have[w] += n
		} else {
			all += n
		}
	}
	return have, all, rows.Err()
}

// rarest are the words that tell most, of those that any lesson has: at most
// searchTerms, and as many as stand in searchMost lessons together, but one.
func rarest(words []string, have map[string]int) []string {
	var known []string
	for _, w := range words {
		if have[w] > 0 && !slices.Contains(known, w) {
			known = append(known, w)
		}
	}
	slices.SortStableFunc(known, func(a, b string) int { return have[a] - have[b] })
	sum := 0
	known = known[:min(len(known), searchTerms)]
	for i, w := range known {
		if sum += have[w]; sum > searchMost && i > 0 {
			return known[:i]
		}
	}
	return known
}
