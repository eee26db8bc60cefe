package stuck

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// diff is the lines of hunks, by a file's path.
const diff = `cart.go
 	sum := 0
-	return sum
+	sum += tax
+	return sum
 }
 
 func empty() {
cart.go
--- a line that was a comment
+-- a line that is one
 
`

// hunksOf hashes a diff in the format of diff: a line that does not begin with ' ', '+' or '-' begins a hunk.
func hunksOf(diff string) []uint64 {
	return Hunks(func(yield func(string, []string) bool) {
		path, lines := "", []string(nil)
		for l := range strings.SplitSeq(strings.TrimSuffix(diff, "\n"), "\n") {
			if strings.HasPrefix(l, " ") || strings.HasPrefix(l, "+") || strings.HasPrefix(l, "-") {
				lines = append(lines, l)
				continue
			}
			if len(lines) > 0 && !yield(path, lines) {
				return
			}
			path, lines = l, nil
		}
		yield(path, lines)
	})
}

func TestHunks(t *testing.T) {
	// Attempts of earlier versions have such hashes.
	if got := hunksOf(diff); !slices.Equal(got, []uint64{4423091637355632108, 11100437262566774132}) {
		t.Fatalf("%d hunks: %v", len(got), got)
	}
	same := func(name, from, to string) {
		t.Helper()
		if !slices.Equal(hunksOf(diff), hunksOf(strings.ReplaceAll(diff, from, to))) {
			t.Errorf("%s makes another change", name)
		}
	}
	same("position", " \tsum := 0\n", "")
	same("indentation", "+\tsum += tax", "+        sum  +=  tax")
	same("line ends", "tax\n", "tax\r\n")
	same("blank lines", "+\tsum += tax", "+\n+\tsum += tax")
	for name, r := range map[string][2]string{
		"another line":  {"+\tsum += tax", "+\tsum += taxx"},
		"another file":  {"cart.go", "till.go"},
		"one line less": {"+\tsum += tax\n", ""},
	} {
		if s := Similarity(hunksOf(diff), hunksOf(strings.ReplaceAll(diff, r[0], r[1]))); s >= Unchanged {
			t.Errorf("%s: similarity %.2f", name, s)
		}
	}
	if got := hunksOf(""); len(got) != 0 {
		t.Errorf("no diff: %v", got)
	}
}

// However many changes there are, their hashes are few enough to store.
func TestHunksAreBounded(t *testing.T) {
	lines := make([]string, 0, 20*maxHashes)
	for i := range 10 * maxHashes {
		lines = append(lines, "+"+strconv.Itoa(i), " ")
	}
	if got := Hunks(maps.All(map[string][]string{"a": lines})); len(got) != maxHashes {
		t.Errorf("%d hashes", len(got))
	}
}

func TestSimilarity(t *testing.T) {
	for _, c := range []struct {
		a, b []uint64
		want float64
	}{
		{nil, nil, 1}, {[]uint64{1}, nil, 0}, {[]uint64{1, 2}, []uint64{2, 1}, 1}, {[]uint64{1, 2}, []uint64{2, 3}, 1.0 / 3},
		{[]uint64{1, 1}, []uint64{1}, 0.5},
	} {
		if got := Similarity(c.a, c.b); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("Similarity(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
	hashes := rapid.SliceOf(rapid.Uint64Range(0, 5))
	rapid.Check(t, func(t *rapid.T) {
		a, b := hashes.Draw(t, "a"), hashes.Draw(t, "b")
		s := Similarity(a, b)
		if s < 0 || s > 1 || s != Similarity(b, a) || Similarity(a, a) != 1 {
			t.Fatalf("similarity %v", s)
		}
	})
}

func FuzzHunks(f *testing.F) {
	f.Add(diff)
	f.Add("a\n-a\n\\ No newline at end of file\n+a")
	f.Add("+a\n\n-")
	f.Fuzz(func(t *testing.T, d string) {
		lines := strings.Split(d, "\n")
		if got := hunksOf(d); len(got) > len(lines) || !slices.IsSorted(got) {
			t.Errorf("%d hunks of %d lines", len(got), len(lines))
		}
		if got := Hunks(maps.All(map[string][]string{"a": lines})); len(got) > len(lines) {
			t.Errorf("%d hunks of %d lines", len(got), len(lines))
		}
	})
}
