package cli

import (
	"slices"
	"time"
)

// Figure is one measured value.
type Figure struct {
	What   string  `json:"what"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Target string  `json:"target,omitempty"`
	Note   string  `json:"note,omitempty"`
}

// Measured returns a figure; target and note may be empty.
func Measured(what string, value float64, unit, target, note string) Figure {
	return Figure{What: what, Value: value, Unit: unit, Target: target, Note: note}
}

// Figures prints measured figures.
func (e *Env) Figures(output string, all []Figure) error {
	if output == "json" {
		return e.JSON(all)
	}
	t := NewTable(e.Out, "MEASURED", "VALUE", "UNIT", "REACH", "NOTE")
	for _, f := range all {
		t.Figure(f)
	}
	return t.Flush()
}

// Figure adds a row for a measured value.
func (t Table) Figure(f Figure) {
	t.Rowf("%s\t%.4g\t%s\t%s\t%s", f.What, f.Value, f.Unit, f.Target, f.Note)
}

// Quantile returns the q-quantile of durations, in milliseconds; 0 without durations. It sorts them.
func Quantile(ds []time.Duration, q float64) float64 {
	if len(ds) == 0 {
		return 0
	}
	slices.Sort(ds)
	return float64(ds[min(len(ds)-1, int(q*float64(len(ds))))].Microseconds()) / 1000
}
