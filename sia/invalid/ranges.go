package invalid

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// Ranges gathers the numbers that are out of their ranges. The zero value is ready.
type Ranges struct{ problems []Problem }

// Numbers notes every number of a struct that is out of the range that its field's tag names, such as range:"0,0.5"
// with both ends possible. Each field is called as in YAML, below a path.
func (r *Ranges) Numbers(path string, of any) {
	for field, v := range reflect.ValueOf(of).Fields() {
		if v.Kind() == reflect.Int {
			v = v.Convert(reflect.TypeFor[float64]())
		}
		if v.Kind() != reflect.Float64 {
			continue
		}
		least, most := math.NaN(), math.NaN() // a number without a range is never within it
		_, _ = fmt.Sscanf(field.Tag.Get("range"), "%g,%g", &least, &most)
		r.Within(path+"."+field.Tag.Get("yaml"), v.Float(), least, most)
	}
}

// Within notes a number that is not between least and most, both possible.
func (r *Ranges) Within(path string, v, least, most float64) {
	if !(v >= least && v <= most) {
		r.Note(path, "want a number from %s to %s; this is %s", number(least), number(most), number(v))
	}
}

// Note notes any other problem with the value at a path.
func (r *Ranges) Note(path, format string, args ...any) {
	r.problems = append(r.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// Problems are what was noted, in the order of the paths.
func (r *Ranges) Problems() []Problem {
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return cmp.Compare(a.Path, b.Path) })
	return r.problems
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
