package priors

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"math"
	mathrand "math/rand/v2"
	"testing"
)

// The noise for given bytes, computed by hand. The first number is U; its lowest bit counts. Trials compare a number
// below k·b with a, and each number takes a byte, but for a number below 1, which takes none. U = 1 is kept by the
// trials of 1 in 2, 1 in 4, …; U = 0 always, though it takes a byte to see that. Each step of V is a run of trials of 1
// in 1, 1 in 2, 1 in 3, … that first fails at the k-th, with k odd. Then the sign.
func TestBytesBecomeNoise(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bytes []byte
		want  int64
	}{
		{"zero", []byte{0, 0 /* kept */, 1 /* k = 2: no step */, 0 /* positive */}, 0},
		{"two", []byte{0, 0, 0, 1 /* k = 3: a step */, 1 /* no other */, 0}, 2},
		{"minus two", []byte{0, 0, 0, 1, 1, 1 /* negative */}, -2},
		{"one", []byte{1, 1 /* k = 1: kept */, 1, 0}, 1},
		{"minus three", []byte{1, 1, 0, 2 /* k = 3 */, 1, 1}, -3},
		{"minus zero is drawn again", []byte{0, 0, 1, 1, 0, 0, 1, 0}, 0},
		{"U is thrown away", []byte{1, 0, 1 /* k = 2 */, 0, 0, 1, 0}, 0},
		{"what is not below 3 is thrown away", []byte{0, 0, 0, 3, 1, 1, 0}, 2},
		{"high bits don't count", []byte{254, 254, 255, 254}, 0},
	} {
		r := bytes.NewReader(tt.bytes)
		n := NewNoise(r)
		got, err := n.Draw()
		if err != nil || got != tt.want || n.bits.Buffered() != 0 {
			t.Errorf("%s: %d, %v, %d bytes left; want %d", tt.name, got, err, n.bits.Buffered(), tt.want)
		}
	}
}

func TestNoiseNeedsBytes(t *testing.T) {
	for n := range 6 {
		_, err := NewNoise(bytes.NewReader([]byte{1, 1, 0, 2, 1, 1}[:n])).Draw()
		if !errors.Is(err, io.EOF) {
			t.Errorf("with %d bytes: %v", n, err)
		}
	}
	if _, err := (Counts{}).Blur(NewNoise(bytes.NewReader(make([]byte, 100)))); !errors.Is(err, io.EOF) {
		t.Errorf("blurred with too few bytes: %v", err)
	}
}

// pmf returns the probability of a value by the definition of the distribution.
func pmf(x int) float64 {
	a := math.Exp(-float64(Epsilon) / Sensitivity)
	return (1 - a) / (1 + a) * math.Pow(a, math.Abs(float64(x)))
}

// chiSquare returns the statistic of draws against the distribution: 41 classes, with the tails in the outermost.
func chiSquare(t *testing.T, random io.Reader, draws int) float64 {
	t.Helper()
	const edge = 20
	var seen, want [2*edge + 1]float64
	n := NewNoise(random)
	for range draws {
		x, err := n.Draw()
		if err != nil {
			t.Fatal(err)
		}
		seen[min(edge, max(-edge, int(x)))+edge]++
	}
	for x := -200; x <= 200; x++ {
		want[min(edge, max(-edge, x))+edge] += pmf(x) * float64(draws)
	}
	sum := 0.0
	for i := range seen {
		sum += (seen[i] - want[i]) * (seen[i] - want[i]) / want[i]
	}
	return sum
}

// With 40 degrees of freedom 95.6 is exceeded once in 200,000 times. In a million draws the smallest class expects 8,
// so a larger sum indicates a defect of the sampler. A sampler with another scale yields thousands.
func TestNoiseHasItsDistribution(t *testing.T) {
	seed := [32]byte{7}
	if got := chiSquare(t, mathrand.NewChaCha8(seed), 1_000_000); got > 95.6 {
		t.Errorf("by seeded bytes chi-square is %.1f", got)
	}
	if got := chiSquare(t, rand.Reader, 1_000_000); got > 95.6 {
		t.Errorf("by crypto/rand chi-square is %.1f", got)
	}
}

func TestNoiseVarianceIsTrue(t *testing.T) {
	sum := 0.0
	for x := -400; x <= 400; x++ {
		sum += float64(x) * float64(x) * pmf(x)
	}
	if math.Abs(sum-NoiseVariance) > 1e-4 {
		t.Errorf("the variance is %v, not %v", sum, NoiseVariance)
	}
}

// Empty cells get noise like all others: a missing cell would reveal that it is empty.
func TestEveryCellIsBlurred(t *testing.T) {
	full, err := Counts{}.Blur(NewNoise(mathrand.NewChaCha8([32]byte{1})))
	if err != nil || len(full) != len(Cells()) {
		t.Fatalf("%d of %d cells, %v", len(full), len(Cells()), err)
	}
	sum, zero := 0.0, 0
	for _, x := range full {
		sum += float64(x.Resolved*x.Resolved+x.Failed*x.Failed) / 2
		if x == (Tally{}) {
			zero++
		}
	}
	if v := sum / float64(len(full)); math.Abs(v-NoiseVariance) > 0.6 {
		t.Errorf("the variance is %.2f, not %.2f", v, NoiseVariance)
	}
	if share := float64(zero) / float64(len(full)); math.Abs(share-pmf(0)*pmf(0)) > 0.02 {
		t.Errorf("%.3f of the cells are zero, not %.3f", share, pmf(0)*pmf(0))
	}
	c := Cells()[17]
	more, err := Counts{c: {Resolved: 1000, Failed: 5000}}.Blur(NewNoise(mathrand.NewChaCha8([32]byte{1})))
	if err != nil {
		t.Fatal(err)
	}
	for cell, x := range more {
		want := full[cell]
		if cell == c {
			want.Resolved += 1000
			want.Failed += 5000
		}
		if x != want {
			t.Errorf("%v: %+v, want %+v", cell, x, want)
		}
	}
}
