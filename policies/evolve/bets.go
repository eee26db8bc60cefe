package evolve

// stakes are the shares λ of the capital bet on each outcome, each by a separate player with the same initial capital.
var stakes = [...]float64{.05, .1, .2, .3, .45, .6}

// bets holds the players' capital, as multiples of the initial capital.
type bets [len(stakes)]float64

func newBets() (b bets) {
	for i := range b {
		b[i] = 1
	}
	return b
}

// play bets on x, which is within −1–1 and has a mean of at most zero under the null hypothesis.
func (b *bets) play(x float64) {
	for i, stake := range stakes {
		b[i] *= 1 + stake*x
	}
}

// e returns the mean of the players' capital.
func (b *bets) e() float64 {
	sum := 0.0
	for _, have := range b {
		sum += have
	}
	return sum / float64(len(b))
}
