package attempts

import (
	_ "embed" // the outcomes of aider's leaderboards
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed aider.csv
var aiderCSV string

// aiderRow is one model's result in one benchmark.
type aiderRow struct {
	benchmark                    string
	tasks, first, second, syntax float64
}

// Aider returns how often a model's second try, with the test results, resolves what the first did not. There
// are no outcomes by task: a case is a failed exercise, and intervals are over models.
func Aider() ([]Figure, error) {
	rows, err := readAider(aiderCSV)
	if err != nil {
		return nil, fmt.Errorf("read aider's leaderboards: %w", err)
	}
	var out []Figure
	for _, benchmark := range []string{"edit", "polyglot"} {
		of := slices.DeleteFunc(slices.Clone(rows), func(r aiderRow) bool { return r.benchmark != benchmark })
		slices.SortStableFunc(of, func(a, b aiderRow) int {
			return -strings.Compare(fmt.Sprintf("%09.6f", a.first/a.tasks), fmt.Sprintf("%09.6f", b.first/b.tasks))
		})
		half := len(of) / 2
		syntax := func(has bool) (some []aiderRow) {
			for _, r := range of {
				if (r.syntax > 0) == has {
					some = append(some, r)
				}
			}
			return some
		}
		for _, group := range []struct {
			name string
			rows []aiderRow
		}{{"all models", of}, {"the better half", of[:half]}, {"the other half", of[half:]},
			{"models with syntax errors", syntax(true)}, {"models without", syntax(false)}} {
			c := counts{}
			for i, r := range group.rows {
				if failed := r.tasks - r.first; failed > 0 {
					c[strconv.Itoa(i)] = sum{r.second - r.first, failed}
				}
			}
			if f, ok := c.figure(benchmark + ", " + group.name + ": second attempt, told why the first failed"); ok {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

func readAider(text string) (rows []aiderRow, err error) {
	in := csv.NewReader(strings.NewReader(text))
	in.Comment = '#'
	records, err := in.ReadAll()
	if err != nil {
		return nil, err
	}
	for line, r := range records[1:] {
		row := aiderRow{benchmark: r[0]}
		for into, column := range map[*float64]int{&row.tasks: 3, &row.first: 4, &row.second: 5, &row.syntax: 7} {
			if *into, err = strconv.ParseFloat(r[column], 64); err != nil {
				return nil, fmt.Errorf("row %d: %w", line+2, err)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}
