package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/lesson"
)

// Each repository has two indexes of lessons.
const (
	liveIndex    = "x" // lessons that may be given to attempts
	retiredIndex = "z" // archived or forgotten lessons
)

// indexOf returns the index of a lesson; "" for one that is in no index because
// it is merged into another, or never given to attempts.
func indexOf(l lesson.Lesson) string {
	switch {
	case l.State == lesson.Merged || l.Kind == lesson.Model:
		return ""
	case l.Live():
		return liveIndex
	}
	return retiredIndex
}

// lessonTerm returns the stored term of a word, which is unique to a repository and index.
// Every lesson of the index has the term of the empty word.
func lessonTerm(repo int64, index, word string) string {
	return "r" + strconv.FormatInt(repo, 10) + index + word
}

// reindex records which terms a lesson with the given words loses and gains.
func (b *lessonBatch) reindex(old storedLesson, l lesson.Lesson, words []string, seq int64) {
	note := func(term string, has bool) {
		p := postingKey{term, seq / partSize}
		if b.postings[p] == nil {
			b.postings[p] = map[int]bool{}
		}
		b.postings[p][int(seq%partSize)] = has
	}
	var before []string
	if old.seq != 0 {
		before = b.terms(indexOf(old.Lesson), old.Terms())
	}
	after := b.terms(indexOf(l), words)
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

// terms returns the stored terms of a lesson's words in an index.
func (b *lessonBatch) terms(index string, words []string) []string {
	if index == "" {
		return nil
	}
	terms := []string{lessonTerm(b.repo, index, "")}
	for _, w := range words {
		terms = append(terms, lessonTerm(b.repo, index, w))
	}
	return terms
}

// SearchLessons finds the live lessons of a repository that share words with a
// search, best first, until limit of them are usable. Those that are not are among the
// result, since they may contradict others. The words are those of [lesson.Words]. Only
// the rarest words are looked up: at most searchTerms, in at most searchMaxLessons lessons
// in total. All words count in the rank of the lessons found.
func (s *LessonStore) SearchLessons(
	ctx context.Context, repo int64, words []string, limit int, usable func(lesson.SearchHit) bool,
) ([]lesson.SearchHit, error) {
	return s.searchLessons(ctx, repo, words, limit, usable, liveIndex)
}

// SearchAllLessons finds lessons like SearchLessons, at most limit, and includes archived and forgotten ones.
func (s *LessonStore) SearchAllLessons(
	ctx context.Context, repo int64, words []string, limit int,
) ([]lesson.SearchHit, error) {
	all := func(lesson.SearchHit) bool { return true }
	return s.searchLessons(ctx, repo, words, limit, all, liveIndex, retiredIndex)
}

// Limits of a search. Of the best 20 lessons of a full scan in sialab lessons,
// a search limited to 10,000 lessons finds nearly nine tenths, to 300 a fifth.
const (
	searchWords      = 400    // words of a search; the rest is ignored
	searchTerms      = 64     // words that are looked up
	searchMaxLessons = 10_000 // total of the lessons that have one of these
	searchExtra      = 8      // lessons read beyond the limit, because ranking by all words changes their order
)

func (s *LessonStore) searchLessons(
	ctx context.Context, repo int64, words []string, limit int, usable func(lesson.SearchHit) bool, indexes ...string,
) ([]lesson.SearchHit, error) {
	op := fmt.Sprintf("search the lessons of repository %d", repo)
	words = words[:min(len(words), searchWords)]
	have, all, err := s.countWords(ctx, repo, words, indexes)
	if err != nil {
		return nil, s.explain(op, err)
	}
	weights := lesson.WeighWords(words, have, all)
	terms := map[string]float64{}
	for _, w := range rarestWords(words, have) {
		for _, index := range indexes {
			terms[lessonTerm(repo, index, w)] = weights[w]
		}
	}
	if len(terms) == 0 {
		return nil, nil
	}
	seqs, err := s.heaviestLessons(ctx, terms)
	if err != nil {
		return nil, s.explain(op, err)
	}
	var found []lesson.SearchHit
	n := 0 // number of usable ones
	for part := range slices.Chunk(seqs, limit+searchExtra) {
		some, err := s.readHits(ctx, part, weights)
		if err != nil {
			return nil, s.explain(op, err)
		}
		for _, f := range some {
			if usable(f) {
				n++
			}
		}
		if found = append(found, some...); n >= limit {
			break
		}
	}
	slices.SortFunc(found, lesson.ByRank)
	for i := len(found) - 1; n > limit; i-- {
		if usable(found[i]) {
			n--
		}
		found = found[:i]
	}
	return found, nil
}

// readHits reads lessons and ranks them.
func (s *LessonStore) readHits(
	ctx context.Context, seqs []int64, weights lesson.WordWeights,
) ([]lesson.SearchHit, error) {
	return collect(ctx, s.r, func(from row) (f lesson.SearchHit, err error) {
		var terms, text string
		if err := from.Scan(&terms, &text); err != nil {
			return f, err
		}
		f.Rank, f.Shared = weights.Rank(strings.Fields(terms))
		return f, json.Unmarshal([]byte(text), &f.Lesson)
	}, `SELECT terms, lesson FROM lessons WHERE seq `+s.inList(numbers), jsonArray[int64](seqs))
}

// heaviestLessons returns the lessons that have any of the terms, by the sum of their weights, largest first; among
// equal sums, the newest first.
func (s *LessonStore) heaviestLessons(ctx context.Context, terms map[string]float64) ([]int64, error) {
	rows, err := s.r.QueryContext(ctx,
		`SELECT term, part, seqs FROM lesson_terms WHERE term `+s.inList(texts),
		jsonArray[string](slices.Sorted(maps.Keys(terms))))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	weights := make(map[int64]float32, searchMaxLessons) // by the lessons' numbers
	for rows.Next() {
		var p postingKey
		var packed sql.RawBytes
		if err := rows.Scan(&p.term, &p.part, &packed); err != nil {
			return nil, err
		}
		first, weight := p.part*partSize, float32(terms[p.term])
		if err := unpackPostings(packed, func(o int) { weights[first+int64(o)] += weight }); err != nil {
			return nil, fmt.Errorf("term %s: %w", p.term, err)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	type scored struct {
		seq    int64
		weight float32
	}
	all := make([]scored, 0, len(weights))
	for seq, weight := range weights {
		all = append(all, scored{seq, weight})
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.seq, a.seq))
	})
	seqs := make([]int64, 0, len(all))
	for _, a := range all {
		seqs = append(seqs, a.seq)
	}
	return seqs, nil
}

// countWords counts the lessons that have each word, and all lessons.
func (s *LessonStore) countWords(
	ctx context.Context, repo int64, words, indexes []string,
) (have map[string]int, all int, err error) {
	word := map[string]string{}
	for _, index := range indexes {
		word[lessonTerm(repo, index, "")] = ""
		for _, w := range words {
			word[lessonTerm(repo, index, w)] = w
		}
	}
	type count struct {
		term string
		n    int
	}
	counts, err := collect(ctx, s.r, func(from row) (c count, err error) {
		err = from.Scan(&c.term, &c.n)
		return c, err
	}, `SELECT term, sum(n) FROM lesson_terms WHERE term `+s.inList(texts)+` GROUP BY term`,
		jsonArray[string](slices.Collect(maps.Keys(word))))
	have = map[string]int{}
	for _, c := range counts {
		if w := word[c.term]; w != "" {
			have[w] += c.n
		} else {
			all += c.n
		}
	}
	return have, all, err
}

// rarestWords returns the rarest words that any lesson has: at most searchTerms, in at
// most searchMaxLessons lessons in total, but at least one.
func rarestWords(words []string, have map[string]int) []string {
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
		if sum += have[w]; sum > searchMaxLessons && i > 0 {
			return known[:i]
		}
	}
	return known
}
