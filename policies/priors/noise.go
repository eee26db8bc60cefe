package priors

import (
	"bufio"
	"fmt"
	"io"
)

// The privacy guarantee for everything that an installation ever shares.
const (
	// Epsilon is the privacy parameter: the presence of one task changes the probability of any shared output by at most
	// a factor of e^ε (Dwork, McSherry, Nissim & Smith, 2006).
	Epsilon = 1
	// Sensitivity is the maximum change of all counts by one task, in L1.
	Sensitivity = 2
	// NoiseVariance is the variance of the noise of one count: 2α/(1−α)² with
	// α = exp(−Epsilon/Sensitivity). Its root is 2.8.
	NoiseVariance = 7.8354
)

// scale is the scale of the noise: a value one further from zero is e^(1/scale) times rarer.
const scale = Sensitivity / Epsilon

// Noise draws from the two-sided geometric distribution: P(x) is proportional to exp(−|x|/scale). It is optimal for a
// count, for any use of it (Ghosh, Roughgarden & Sundararajan, "Universally Utility-Maximizing Privacy Mechanisms",
// 2009). The sampler is algorithm 2 of Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential Privacy",
// 2020: it compares only whole numbers. Samplers with logarithms of floating-point numbers leave holes in the
// distribution, which can reveal the true count (Mironov, 2012).
//
// The time of a draw depends on the drawn value. That reveals nothing, because a report is written on the server that
// has the counts and contains no time. Noise is not safe for concurrent use.
type Noise struct{ bits *bufio.Reader }

// NewNoise returns a Noise that uses random bytes, in production those of crypto/rand.
func NewNoise(random io.Reader) *Noise { return &Noise{bufio.NewReader(random)} }

// Draw draws one value. Errors are those of the random bytes.
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
		case negative && x == 0: // else zero would be twice as likely
		case negative:
			return -x, nil
		default:
			return x, nil
		}
	}
}

// draw is one draw. After the first error all results are 0 and false, so that every loop ends.
type draw struct {
	bits *bufio.Reader
	err  error
}

// below returns a uniform value in 0 to n−1, for n ≥ 1. It reads as many bytes as n−1 has, clears the bits that n−1
// does not need, and rejects values that are not below n.
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

// expOne returns true with the probability exp(−a/b), for 0 ≤ a ≤ b: algorithm 1 of the same source, which is von
// Neumann's. k is the first of the trials with probabilities a/b, a/2b, a/3b, … that fails.
func (d *draw) expOne(a, b uint64) bool {
	k := uint64(1)
	for d.err == nil && d.below(k*b) < a {
		k++
	}
	return d.err == nil && k%2 == 1
}

// Blur returns the counts of every cell of the public list with noise.
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
