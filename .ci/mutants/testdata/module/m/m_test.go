package m

import "testing"

func TestHalf(t *testing.T) {
	for n, want := range map[int]int{4: 2, 3: 0} {
		if got := Half(n); got != want {
			t.Errorf("half of %d is %d", n, got)
		}
	}
}

func TestReady(t *testing.T) {
	t.Run("below", func(t *testing.T) {
		if <-Ready() == 0 {
			t.Error("it is nothing")
		}
	})
	t.Run("beside", func(*testing.T) {})
}
