package plan

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"
)

func TestProblems(t *testing.T) {
	good := Part{Do: "the store", DoneWhen: "its test passes", Check: "go test ./store"}
	with := func(change func(*Part)) []Part {
		p := good
		change(&p)
		return []Part{good, p}
	}
	for _, tt := range []struct {
		name  string
		parts []Part
		want  string // part of the problem; empty: none
	}{
		{"two", []Part{good, good}, ""},
		{"one", []Part{good}, "2 to 4 parts, not 1"},
		{"too many", slices.Repeat([]Part{good}, 5), "2 to 4 parts, not 5"},
		{"needs the first", with(func(p *Part) { p.Needs = []int{1} }), ""},
		{"needs itself", with(func(p *Part) { p.Needs = []int{2} }), "part 2: needs names part 2"},
		{"needs nothing known", with(func(p *Part) { p.Needs = []int{0} }), "part 2: needs names part 0"},
		{"no command", with(func(p *Part) { p.Check = " " }), "part 2: check must have"},
		{"no words", with(func(p *Part) { p.Do = "" }), "part 2: do must have"},
		{"not testable", with(func(p *Part) { p.DoneWhen = "" }), "part 2: done_when must have"},
		{"too long", with(func(p *Part) { p.Do = strings.Repeat("x", 501) }), "part 2: do must have"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(Problems(tt.parts, 4, true), "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("problems %q, want %q", got, tt.want)
			}
		})
	}
	if got := Problems(with(func(p *Part) { p.Check = "" }), 4, false); len(got) > 0 {
		t.Errorf("without commands: %q", got)
	}
}

// Merging the tops of all parts includes every part, and no top is below another.
func TestTops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		needs := make([][]int, rapid.IntRange(1, 8).Draw(t, "parts"))
		var all []int
		for i := range needs {
			all = append(all, i+1)
			for n := 1; n <= i; n++ {
				if rapid.Bool().Draw(t, "needs") {
					needs[i] = append(needs[i], n)
				}
			}
		}
		tops := Tops(needs, all)
		if got := Below(needs, tops...); !slices.Equal(got, all) {
			t.Fatalf("below %v of %v: %v", tops, needs, got)
		}
		for _, n := range tops {
			others := slices.DeleteFunc(slices.Clone(tops), func(o int) bool { return o == n })
			if slices.Contains(Below(needs, others...), n) {
				t.Fatalf("of %v, %d is below another top of %v", needs, n, tops)
			}
		}
	})
}

func TestChain(t *testing.T) {
	got := Chain([]Part{{Do: "a", Needs: []int{3}}, {Do: "b"}, {Do: "c"}})
	for i, want := range [][]int{nil, {1}, {2}} {
		if !slices.Equal(got[i].Needs, want) {
			t.Errorf("part %d needs %v, want %v", i+1, got[i].Needs, want)
		}
	}
}
