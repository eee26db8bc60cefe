package keyword

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"
)

// found counts each keyword in a text, and fails if one does not end where the
// automaton reports it.
func found[T string | []byte](t *rapid.T, keys []string, text T, fold bool) map[string]int {
	same := func(a, b string) bool { return a == b }
	if fold {
		same = strings.EqualFold
	}
	got := map[string]int{}
	Scan(New(keys, fold), text, func(k int32, end int) {
		if at := string(text[end-len(keys[k]) : end]); !same(at, keys[k]) {
			t.Fatalf("%q does not end at %d of %q", keys[k], end, text)
		}
		got[keys[k]]++
	})
	return got
}

// The automaton finds the same as a search for each keyword.
func TestScan(t *testing.T) {
	letters := rapid.StringOfN(rapid.RuneFrom([]rune("abAB:é")), 1, 4, -1)
	rapid.Check(t, func(t *rapid.T) {
		fold := rapid.Bool().Draw(t, "fold")
		lower := func(s string) string {
			if fold {
				return strings.ToLower(s)
			}
			return s
		}
		var keys []string
		for _, k := range rapid.SliceOfNDistinct(letters, 0, 6, strings.ToLower).Draw(t, "keys") {
			keys = append(keys, lower(k))
		}
		text := rapid.StringOfN(rapid.RuneFrom([]rune("abAB:é ")), 0, 40, -1).Draw(t, "text")
		want := map[string]int{}
		for _, k := range keys {
			for i := 0; i+len(k) <= len(text); i++ {
				if lower(text[i:i+len(k)]) == k {
					want[k]++
				}
			}
		}
		if d := cmp.Diff(want, found(t, keys, text, fold)); d != "" {
			t.Fatalf("in a string: -want +got\n%s", d)
		}
		if d := cmp.Diff(want, found(t, keys, []byte(text), fold)); d != "" {
			t.Fatalf("in bytes: -want +got\n%s", d)
		}
	})
}
