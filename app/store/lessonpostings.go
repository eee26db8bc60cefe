package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// partSize is the maximum number of lessons in a row of lesson_terms: a search reads
// few rows, and a new lesson rewrites little. Changing it makes stored rows
// unreadable.
const partSize = 1 << 16

// postingKey is the key of a row of lesson_terms: the lessons that have a term, with a seq
// in [part × partSize, (part+1) × partSize).
type postingKey struct {
	term string
	part int64
}

func byPostingKey(a, b postingKey) int {
	return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.part, b.part))
}

// unpackPostings calls yield with the offset of each lesson in its part, ascending.
func unpackPostings(seqs []byte, yield func(offset int)) error {
	at := -1
	for len(seqs) > 0 {
		step, n := binary.Uvarint(seqs)
		if n <= 0 || step == 0 || step > partSize || at+int(step) >= partSize {
			return errors.New("which lessons have it is damaged in the database; restore a backup, or name a new file and " +
				"run sia memory reindex")
		}
		at += int(step)
		seqs = seqs[n:]
		yield(at)
	}
	return nil
}

// packPostings encodes offsets for unpackPostings. They must ascend.
func packPostings(offsets []int) []byte {
	packed := make([]byte, 0, len(offsets)+len(offsets)/4)
	at := -1
	for _, o := range offsets {
		packed = binary.AppendUvarint(packed, uint64(o-at))
		at = o
	}
	return packed
}

// flush writes the changes of the index.
func (b *lessonBatch) flush() error {
	for _, p := range slices.SortedFunc(maps.Keys(b.postings), byPostingKey) {
		var packed []byte
		err := b.tx.QueryRowContext(b.ctx, `SELECT seqs FROM lesson_terms WHERE term = ? AND part = ?`, p.term,
			p.part).Scan(&packed)
		if ignoreNoRows(err) != nil {
			return err
		}
		have := b.postings[p]
		var offsets []int
		if err = unpackPostings(packed, func(o int) {
			if _, changed := have[o]; !changed {
				offsets = append(offsets, o)
			}
		}); err != nil {
			return fmt.Errorf("term %s: %w", p.term, err)
		}
		for o, has := range have {
			if has {
				offsets = append(offsets, o)
			}
		}
		slices.Sort(offsets)
		if len(offsets) == 0 {
			_, err = b.tx.ExecContext(b.ctx, `DELETE FROM lesson_terms WHERE term = ? AND part = ?`, p.term, p.part)
		} else {
			_, err = b.tx.ExecContext(b.ctx, `INSERT INTO lesson_terms (term, part, n, seqs) VALUES (?, ?, ?, ?)
				ON CONFLICT (term, part) DO UPDATE SET n = excluded.n, seqs = excluded.seqs`, p.term, p.part, len(offsets),
				packPostings(offsets))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
