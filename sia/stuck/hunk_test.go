package stuck

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const diff = `diff --git a/cart.go b/cart.go
index 1a2b3c4..5d6e7f8 100644
--- a/cart.go
+++ b/cart.go
@@ -10,5 +10,6 @@ func total() int {
 	sum := 0
-	return sum
+	sum += tax
+	return sum
 }
 
 func empty() {
@@ -30,2 +31,2 @@
--- a line that was a comment
+-- a line that is one
 
`

func TestHunks(t *testing.T) {
	lines := strings.Split(diff, "\n")
	if got := Hunks(lines); len(got) != 2 || !slices.IsSorted(got) {
		t.Fatalf("%d hunks: %v", len(got), got)
	}
	same := func(name, from, to string) {
		t.Helper()
		if !slices.Equal(Hunks(lines), Hunks(strings.Split(strings.ReplaceAll(diff, from, to), "\n"))) {
			t.Errorf("%s makes another change", name)
		}
	}
	same("position", "@@ -10,5 +10,6 @@", "@@ -90,5 +92,6 @@")
	same("indentation", "+\tsum += tax", "+        sum  +=  tax")
	same("line ends", "\n", "\r\n")
	same("blank lines", "@@ -10,5 +10,6 @@ func total() int {\n", "@@ -10,5 +10,7 @@ func total() int {\n+\n")
	for name, r := range map[string][2]string{
		"another line": {"+\tsum += tax", "+\tsum += taxx"},
		"another file": {"cart.go", "till.go"},
		"one line less": {"+10,6 @@ func total() int {\n \tsum := 0\n-\treturn sum\n+\tsum += tax\n",
			"+10,5 @@ func total() int {\n \tsum := 0\n-\treturn sum\n"},
	} {
		if s := Similarity(Hunks(lines), Hunks(strings.Split(strings.ReplaceAll(diff, r[0], r[1]), "\n"))); s >= Unchanged {
			t.Errorf("%s: similarity %.2f", name, s)
		}
	}
	if got := Hunks(nil); len(got) != 0 {
		t.Errorf("no diff: %v", got)
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
	f.Add("@@ -1,99999999999 +1 @@\n-a")
	f.Add("@@ -1 +1\n")
	f.Fuzz(func(t *testing.T, d string) {
		lines := strings.Split(d, "\n")
		if got := Hunks(lines); len(got) > len(lines) || !slices.IsSorted(got) {
			t.Errorf("%d hunks of %d lines", len(got), len(lines))
		}
	})
}
