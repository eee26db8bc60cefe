package priors

import (
	"bufio"
	"fmt"
	"io"
)

// What is promised of everything that an installation ever shares.
const (
	// Epsilon bounds by which factor e^ε the presence of one task can move the probability of
	// anything that is shared (Dwork, McSherry, Nissim & Smith, 2006).
	Epsilon = 1
	// Sensitivity is by how much one task can move all counts together, in L1.
	Sensitivity = 2
	// NoiseVariance is the variance of the noise of one count: 2α/(1−α)² with
	// α = exp(−Epsilon/Sensitivity). Its root is 2.8.
	NoiseVariance = 7.8354
)

// scale is how far noise reaches: a value one further from zero is e^(1/scale) times rarer.
const scale = Sensitivity / Epsilon

// Noise draws from the two-sided geometric distribution: P(x) is proportional to exp(−|x|/scale).
// It is the best there is for a count, whatever is to be done with it (Ghosh, Roughgarden &
// Sundararajan, "Universally Utility-Maximizing Privacy Mechanisms", 2009). The sampler is
// algorithm 2 of Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential Privacy", 2020:
// it compares whole numbers only. Samplers that take logarithms of floating-point numbers leave
// holes in the distribution, by which the true count can be found (Mironov, 2012).
//
// How long a draw takes depends on what is drawn. A report is written on the server that has the
// counts anyway, and carries no time. Not safe for concurrent use.
type Noise struct{ bits *bufio.Reader }

// NewNoise draws by random bytes, in production those of crypto/rand.
func NewNoise(random io.Reader) *Noise { return &Noise{bufio.NewReader(random)} }

// Draw draws once. An error is that of the random bytes.
func (n *Noise) Draw() (int64, error) {
	d := draw{bits: n.bits}
	for {
		u := d.below(scale)
		if !d.expOne(u, scale) {
			if d.err != nil {
				return 0, fmt.Errorf("draw noise: %w", d.err)
			}
			continue
		}
		v := uint64(0)
		for d.expOne(1, 1) {
			v++
		}
		x := int64(u + scale*v)
		negative := d.below(2) == 1
		switch {
		case d.err != nil:
			return 0, fmt.Errorf("draw noise: %w", d.err)
		case negative && x == 0: // else zero would come twice as often
		case negative:
			return -x, nil
		default:
			return x, nil
		}
	}
}

// draw is one draw. After the first error everything is 0 and false, so that every loop ends.
type draw struct {
	bits *bufio.Reader
	err  error
}

// below is uniform in 0 to n−1, for n ≥ 1. It takes as many bytes as n−1 has, clears the bits that
// n−1 does not need, and throws away what is not below n.
func (d *draw) below(n uint64) uint64 {
	mask := n - 1
	for shift := 1; shift < 64; shift *= 2 {
		mask |= mask >> shift
	}
	for d.err == nil {
		x := uint64(0)
		for m := mask; m > 0; m >>= 8 {
			var b byte
			b, d.err = d.bits.ReadByte()
			x = x<<8 | uint64(b)
		}
		if x &= mask; x < n && d.err == nil {
			return x
		}
	}
	return 0
}

// expOne is true with the probability exp(−a/b), for 0 ≤ a ≤ b: algorithm 1 of the same source, which
// is von Neumann's. K is the first of trials of chance a/b, a/2b, a/3b, … that fails.
func (d *draw) expOne(a, b uint64) bool {
	k := uint64(1)
	for d.err == nil && d.below(k*b) < a {
		k++
	}
	return d.err == nil && k%2 == 1
}

// Blur is every cell of the public list with its counts and noise.
func (c Counts) Blur(n *Noise) (Counts, error) {
	out := Counts{}
	for _, cell := range Cells() {
		t := c[cell]
		for _, count := range []*int64{&t.Resolved, &t.Failed} {
			x, err := n.Draw()
			if err != nil {
				return nil, err
			}
			*count += x
		}
		out[cell] = t
	}
	return out, nil
}
