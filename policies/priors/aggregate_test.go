package priors

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"
)

// collection returns reports of installations with the same outcomes, each with independent noise.
func collection(t testing.TB, n int, each Counts) (out []Report) {
	t.Helper()
	for i := range n {
		out = append(out, Report{Key: fmt.Sprint("sia-", i), Period: 1, Counts: blurred(t, each, byte(i))})
	}
	return out
}

func TestAggregate(t *testing.T) {
	c := Cells()[3]
	rs := collection(t, 40, Counts{c: {Resolved: 30, Failed: 70}})
	p, err := Aggregate(rs, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if p.Installations != 40 || p.Reports != 40 || p.Made != "1970-01-01" {
		t.Errorf("%+v", p)
	}
	got := p.cells[c]
	if math.Abs(got.resolved-1200) > 60 || math.Abs(got.failed-2800) > 60 || got.installations != 40 {
		t.Errorf("the cell came to %+v, want 1200 of 4000", got)
	}
	w := p.Technique(c.Language, c.Pattern, c.Technique)
	if w.Tried != mostTechnique || math.Abs(w.Resolved/w.Tried-0.3) > 0.03 {
		t.Errorf("it weighs %+v", w)
	}
	if w := p.Technique("rust", c.Pattern, c.Technique); w.Tried != mostTechnique ||
		math.Abs(w.Resolved/w.Tried-0.3) > 0.03 {
		t.Errorf("in another language it weighs %+v", w)
	}
	if w := p.Technique("go", Cells()[7].Pattern, Cells()[7].Technique); w.Tried > 1 {
		t.Errorf("what nobody has seen weighs %+v", w)
	}
	if w := p.Coder("go", "bug", Other); w != (Weight{}) {
		t.Errorf("models without a name weigh %+v", w)
	}
}

func TestAggregateRefuses(t *testing.T) {
	rs := collection(t, 12, Counts{Cells()[0]: {Resolved: 50, Failed: 50}})
	if _, err := Aggregate(append(rs, rs[3]), time.Now()); err == nil || !strings.Contains(err.Error(), "period 1") {
		t.Errorf("a report twice: %v", err)
	}
	again := rs[3]
	again.Period, again.Counts = 1, rs[4].Counts
	if _, err := Aggregate(append(rs, again), time.Now()); err == nil {
		t.Error("another report for the same period counts, too")
	}
	if _, err := Aggregate(rs[:9], time.Now()); err == nil || !strings.Contains(err.Error(), "9 installations") {
		t.Errorf("nine: %v", err)
	}
	var one []Report
	for i := range 12 {
		one = append(one, Report{Key: "same", Period: i + 1, Counts: rs[i].Counts})
	}
	if _, err := Aggregate(one, time.Now()); err == nil {
		t.Error("one installation counts as twelve")
	}
	if _, err := Aggregate(collection(t, 12, nil)[:0], time.Now()); err == nil {
		t.Error("nothing is aggregated")
	}
	quiet := make([]Report, 12)
	for i := range quiet {
		quiet[i] = Report{Key: fmt.Sprint(i), Period: 1, Counts: Counts{}}
	}
	if _, err := Aggregate(quiet, time.Now()); err == nil || !strings.Contains(err.Error(), "nothing is left") {
		t.Errorf("of nothing: %v", err)
	}
}

// Periods of one installation are added before clipping.
func TestPeriodsAddUp(t *testing.T) {
	c := Cells()[0]
	var rs []Report
	for i := range 12 {
		for p := range 2 {
			rs = append(rs, Report{Key: fmt.Sprint(i), Period: p + 1, Counts: Counts{c: {Resolved: 1, Failed: 2}}})
		}
	}
	p, err := Aggregate(rs, time.Now())
	if err != nil || p.cells[c] != (share{24, 48, 12}) || p.Installations != 12 || p.Reports != 24 {
		t.Errorf("%+v %+v, %v", p, p.cells[c], err)
	}
}

// A dishonest installation changes a cell by at most a tenth of its value.
func TestOneLiar(t *testing.T) {
	c := Cells()[0]
	rs := collection(t, 30, Counts{c: {Resolved: 30, Failed: 70}})
	for _, lie := range []Tally{{maxCount, 0}, {0, maxCount}, {maxCount, -maxCount}, {-maxCount, maxCount},
		{-maxCount, -maxCount}, {maxCount, -maxCount + 5}} {
		rs[0].Counts[c] = lie
		p, err := Aggregate(rs, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if m := p.cells[c].mean(); math.Abs(m-0.3) > 0.12 {
			t.Errorf("by %+v the share is %.2f", lie, m)
		}
	}
}

func TestTooFewInACell(t *testing.T) {
	full, thin := Cells()[0], Cells()[1]
	var rs []Report
	for i := range 20 {
		c := Counts{full: {Resolved: 5, Failed: 5}, thin: {}}
		if i < 9 {
			c[thin] = Tally{Resolved: 50, Failed: 50}
		}
		rs = append(rs, Report{Key: fmt.Sprint(i), Period: 1, Counts: c})
	}
	p, err := Aggregate(rs, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := p.cells[thin]; ok {
		t.Error("a cell of nine installations is published")
	}
	if p.cells[full] != (share{100, 100, 20}) {
		t.Errorf("the other came to %+v", p.cells[full])
	}
}

// For any reports, no installation has more than a tenth of a sum.
func TestNobodyHasMoreThanATenth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Int64Range(-50, 400)
		said := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Tally {
			x := Tally{count.Draw(t, "resolved"), count.Draw(t, "failed")}
			if x == (Tally{}) {
				x.Failed = 1
			}
			return x
		}), 1, 40).Draw(t, "said")
		if _, ok := clip(said); !ok {
			return
		}
		rest, scaled := 0.0, 0.0 // found again, by looking at every bound
		largest := 0.0
		for _, x := range said {
			largest = max(largest, x.size())
		}
		fits := func(b float64) float64 {
			rest, scaled = 0, 0
			for _, x := range said {
				f := min(1, b/x.size())
				rest += f * x.tried()
				scaled = max(scaled, f*x.size())
			}
			return mostOf*rest - scaled
		}
		low, high := 0.0, largest
		if fits(largest) < -1e-9 {
			for b := largest; b > 0; b -= largest / 20_000 { // the largest bound at which it holds
				if fits(b) >= 0 {
					low = b
					break
				}
			}
			high = low
		}
		s, _ := clip(said)
		want := sum(said, high, s.installations)
		if math.Abs(s.resolved-want.resolved) > 0.02*(1+want.resolved) ||
			math.Abs(s.failed-want.failed) > 0.02*(1+want.failed) {
			t.Fatalf("%+v, want %+v by the bound %v", s, want, high)
		}
	})
}

// Noise reduces weight: the more reports, the lower the weight of the same shares.
func TestWeight(t *testing.T) {
	c := Cell{Language: "go", Pattern: "wrong-tool", Technique: "tool-change"}
	of := func(reports int, own, all share) Weight {
		p := &Priors{Reports: reports, cells: map[Cell]share{c: own, c.in(Any): all}}
		return p.Technique(c.Language, c.Pattern, c.Technique)
	}
	for _, tt := range []struct {
		name        string
		got         Weight
		tried, mean float64
	}{
		{"nothing", of(10, share{}, share{}), 0, 0},
		{"much", of(10, share{3000, 7000, 10}, share{3000, 7000, 10}), 240, 0.3},
		{"much elsewhere", of(10, share{}, share{3000, 7000, 10}), 240, 0.3},
		{"little in much noise", of(1000, share{30, 70, 10}, share{30, 70, 10}), 0.46, 0.3},
		{"own and others", of(10, share{100, 100, 10}, share{100, 2000, 10}), 222.8, 0.412},
		{"all of them", of(10, share{3000, 0, 10}, share{3000, 0, 10}), 240, 0.98},
	} {
		if math.Abs(tt.got.Tried-tt.tried) > 0.1 || tt.tried > 0 && math.Abs(tt.got.Resolved/tt.got.Tried-tt.mean) > 0.01 {
			t.Errorf("%s: %+v, a share of %.3f; want %v, %v", tt.name, tt.got, tt.got.Resolved/tt.got.Tried, tt.tried, tt.mean)
		}
	}
	at := Cell{Language: "go", Kind: "bug", Coder: Coders()[0]}
	p := &Priors{Reports: 10, cells: map[Cell]share{at: {3000, 7000, 10}, at.in(Any): {3000, 7000, 10}}}
	if w := p.Coder(at.Language, at.Kind, at.Coder); w.Tried != mostCoder {
		t.Errorf("much of a coder weighs %+v, want %v", w, mostCoder)
	}
}
