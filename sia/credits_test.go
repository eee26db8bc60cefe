package sia

import "testing"

func TestCreditsOfRoundsUp(t *testing.T) {
	for usd, want := range map[float64]Credits{
		0: 0, 0.01: Credit, 0.000001: 1, 0.000011: 2, 0.1 + 0.2: 30 * Credit, 123.45: 12345 * Credit,
	} {
		if got := CreditsOf(usd); got != want {
			t.Errorf("%v USD = %d, want %d", usd, got, want)
		}
	}
}
