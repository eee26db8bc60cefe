package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

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

// lessonTerm is what a word is kept as: different for each repository and shelf.
// The empty word is one that every lesson of the shelf has.
func lessonTerm(repo int64, shelf, word string) string {
	return "r" + strconv.FormatInt(repo, 10) + shelf + word
}

// index notes which terms a lesson loses and gains.
func (b *lessonBook) index(old keptLesson, l lesson.Lesson, seq int64) {
	note := func(term string, has bool) {
		p := post{term, seq / partSize}
		if b.posts[p] == nil {
			b.posts[p] = map[int]bool{}
		}
		b.posts[p][int(seq%partSize)] = has
	}
	var before []string
	if old.seq != 0 {
		before = b.terms(old.Lesson)
	}
	after := b.terms(l)
	for _, t := range before {
		if !slices.Contains(after, t) {
			note(t, false)
		}
	}
	for _, t := range after {
		if !slices.Contains(before, t) {
			note(t, true)
		}
	}
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
// [lesson.Words] makes them. Of the words, the rarest are searched for, until
// they stand in searchMost lessons together or are searchTerms; all of them count
// in the rank of what that finds.
func (s *Store) SearchLessons(ctx context.Context, repo int64, words []string, limit int) ([]lesson.Found, error) {
	return s.searchLessons(ctx, repo, words, limit, live)
}

// LessonsLike is SearchLessons among archived and forgotten lessons as well.
func (s *Store) LessonsLike(ctx context.Context, repo int64, words []string, limit int) ([]lesson.Found, error) {
	return s.searchLessons(ctx, repo, words, limit, live, retired)
}

// Bounds of a search's work. Of what a full scan puts among the best 20 in sia
// bench lessons, a search of 10,000 finds nearly nine tenths, of 300 a fifth.
const (
	searchWords = 400    // words that a search looks at
	searchTerms = 64     // of them, that it searches for
	searchMost  = 10_000 // lessons that these may stand in together
	searchSpare = 8      // more are read than are wanted, since all words rank these
)

func (s *Store) searchLessons(ctx context.Context, repo int64, words []string, limit int, shelves ...string) ([]lesson.Found, error) {
	op := fmt.Sprintf("search the lessons of repository %d", repo)
	words = words[:min(len(words), searchWords)]
	have, all, err := s.haveWords(ctx, repo, words, shelves)
	if err != nil {
		return nil, s.explain(op, err)
	}
	weights := lesson.Weigh(words, have, all)
	terms := map[string]float64{}
	for _, w := range rarest(words, have) {
		for _, on := range shelves {
			terms[lessonTerm(repo, on, w)] = weights[w]
		}
	}
	if len(terms) == 0 {
		return nil, nil
	}
	seqs, err := s.heaviest(ctx, terms, limit+searchSpare)
	if err != nil {
		return nil, s.explain(op, err)
	}
	list, err := json.Marshal(seqs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	lessons, err := collect(ctx, s.r, scanLesson, `SELECT lesson FROM lessons WHERE seq IN (SELECT value FROM json_each(?))`, string(list))
	if err != nil {
		return nil, s.explain(op, err)
	}
	found := make([]lesson.Found, 0, len(lessons))
	for _, l := range lessons {
		found = append(found, weights.Rank(l))
	}
	slices.SortFunc(found, lesson.ByRank)
	return found[:min(len(found), limit)], nil
}

// heaviest are the lessons whose terms weigh most together, at most so many; of
// those that weigh the same, the newest.
func (s *Store) heaviest(ctx context.Context, terms map[string]float64, most int) ([]int64, error) {
	list, err := json.Marshal(slices.Sorted(maps.Keys(terms)))
	if err != nil {
		return nil, err
	}
	rows, err := s.r.QueryContext(ctx, `SELECT term, part, seqs FROM lesson_terms WHERE term IN (SELECT value FROM json_each(?))`, string(list))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	parts := map[int64][]float64{} // weight by offset
	for rows.Next() {
		var p post
		var packed sql.RawBytes
		if err := rows.Scan(&p.term, &p.part, &packed); err != nil {
			return nil, err
		}
		if parts[p.part] == nil {
			parts[p.part] = make([]float64, partSize)
		}
		part, weight := parts[p.part], terms[p.term]
		if err := unpackPost(packed, func(o int) { part[o] += weight }); err != nil {
			return nil, fmt.Errorf("term %s: %w", p.term, err)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	type scored struct {
		seq    int64
		weight float64
	}
	var best []scored // heaviest first
	for _, p := range slices.Backward(slices.Sorted(maps.Keys(parts))) {
		for o, weight := range slices.Backward(parts[p]) {
			if weight == 0 || len(best) == most && weight <= best[most-1].weight {
				continue
			}
			i, _ := slices.BinarySearchFunc(best, weight, func(s scored, w float64) int {
				if s.weight >= w {
					return -1
				}
				return 1
			})
			best = slices.Insert(best, i, scored{p*partSize + int64(o), weight})
			best = best[:min(len(best), most)]
		}
	}
	seqs := make([]int64, 0, len(best))
	for _, b := range best {
		seqs = append(seqs, b.seq)
	}
	return seqs, nil
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
	rows, err := s.r.QueryContext(ctx, `SELECT term, sum(n) FROM lesson_terms WHERE term IN (SELECT value FROM json_each(?)) GROUP BY term`, string(list))
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
