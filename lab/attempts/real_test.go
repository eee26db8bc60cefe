package attempts

import (
	"fmt"
	"os"
	"testing"
)

func TestReal(t *testing.T) {
	r, err := Rounds(t.Context(), "/tmp/evi/rounds")
	if err != nil {
		t.Fatal(err)
	}
	a, err := CodeRover("/tmp/evi/acr")
	if err != nil {
		t.Fatal(err)
	}
	out, _ := os.Create("/tmp/evi/real.txt")
	ai, err := Aider()
	if err != nil {
		t.Fatal(err)
	}
	pr := func(name string, fs []Figure) {
		fmt.Fprintln(out, "==", name)
		for _, f := range fs {
			fmt.Fprintf(out, "%-70s %6.1f (%.1f to %.1f) %d %d\n", f.What, 100*f.Value, 100*f.Low, 100*f.High, f.Cases, f.Tasks)
		}
	}
	pr("aider", ai)
	for _, s := range []Source{a, r} {
		fmt.Fprintln(out, s.Name, len(s.Cases))
		pr(s.Name, Figures(s))
		p, err := Play(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		pr("play", p)
	}
}
