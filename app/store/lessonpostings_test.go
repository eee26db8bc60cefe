package store

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"
)

// TestPosts: unpacking is the inverse of packing.
func TestPosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := map[int]bool{}
		for _, o := range rapid.SliceOf(rapid.OneOf(rapid.IntRange(0, partSize-1),
			rapid.SampledFrom([]int{0, 1, 127, 128, partSize - 1}))).Draw(t, "offsets") {
			in[o] = true
		}
		want, got := slices.Sorted(maps.Keys(in)), []int(nil)
		if err := unpackPostings(packPostings(want), func(o int) { got = append(got, o) }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestPostsDamaged: for any bytes, no offset is outside of its part, and bytes that packPostings can't have written are
// an error.
func TestPostsDamaged(t *testing.T) {
	for _, damaged := range [][]byte{{0}, {1, 0}, {0x80}, {0x81, 0x80, 0x04},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}} {
		if err := unpackPostings(damaged, func(int) {}); err == nil {
			t.Errorf("% x is taken for lessons", damaged)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		last := -1
		// An error is correct, too.
		_ = unpackPostings(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"), func(o int) {
			if o <= last || o >= partSize {
				t.Fatalf("offset %d after %d", o, last)
			}
			last = o
		})
	})
}
