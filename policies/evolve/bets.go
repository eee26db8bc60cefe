package evolve

// stakes are the shares λ of the money that are bet on each outcome, each by a player of
// its own who began with the same.
var stakes = [...]float64{.05, .1, .2, .3, .45, .6}

// bets is what the players have, as multiples of what they began with.
type bets [len(stakes)]float64

func newBets() (b bets) {
	for i := range b {
		b[i] = 1
	}
	return b
}

// play bets on x, which lies in −1–1 and has no mean above zero if there is nothing to find.
func (b *bets) play(x float64) {
	for i, stake := range stakes {
		b[i] *= 1 + stake*x
	}
}

// e is the mean of what the players have.
func (b *bets) e() float64 {
	sum := 0.0
	for _, have := range b {
		sum += have
	}
	return sum / float64(len(b))
}
