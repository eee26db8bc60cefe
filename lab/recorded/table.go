package recorded

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Table has the results of models on tasks, each once and independently of the others.
type Table struct {
	Models []string // in the order of their first row
	Tasks  []Task   // likewise
}

// Task is one task with its result.
type Task struct {
	Name string
	Repo string   // "owner/name"
	Runs []Result // by model, in the order of Table.Models
}

// Result is one model's only attempt at a task.
type Result struct {
	Known    bool // false: not run
	Resolved bool
	Cost     float64 // USD
}

// maxRows limits a table.
const maxRows = 1_000_000

// columns are a table's first columns; a column of calls may follow.
var columns = []string{"task", "repo", "model", "resolved", "cost_usd"}

// Read reads a table of comma-separated values with the header
// task,repo,model,resolved,cost_usd and perhaps calls. A model may lack tasks;
// nothing else may be missing, and no pair may occur twice. An error names the row
// and the column.
func Read(from io.Reader) (Table, error) {
	in := csv.NewReader(from)
	in.FieldsPerRecord = -1
	header, err := in.Read()
	if err != nil {
		return Table{}, fmt.Errorf("read the header: %w", err)
	}
	if len(header) > 0 {
		header[0] = strings.TrimPrefix(header[0], "\ufeff")
	}
	if !slices.Equal(header, columns) && !slices.Equal(header, append(slices.Clone(columns), "calls")) {
		return Table{}, fmt.Errorf("row 1: the columns are %s; want %s, and perhaps calls",
			strings.Join(header, ","), strings.Join(columns, ","))
	}
	b := builder{tasks: map[string]int{}, models: map[string]int{}}
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return b.table()
		}
		if err != nil {
			return Table{}, fmt.Errorf("read outcomes: %w", err)
		}
		line, _ := in.FieldPos(0)
		if len(fields) != len(header) {
			return Table{}, fmt.Errorf("row %d: %d columns, want %d", line, len(fields), len(header))
		}
		if b.rows++; b.rows > maxRows {
			return Table{}, fmt.Errorf("row %d: more than %d rows", line, maxRows)
		}
		if column, err := b.add(fields); err != nil {
			return Table{}, fmt.Errorf("row %d, column %s: %w", line, header[column], err)
		}
	}
}

// builder builds a table.
type builder struct {
	Table
	tasks, models map[string]int
	rows          int
}

// add adds a row. With an error it returns the wrong column.
func (b *builder) add(fields []string) (column int, err error) {
	for i, f := range fields[:3] {
		if strings.TrimSpace(f) == "" {
			return i, errors.New("is empty")
		}
	}
	if _, ok := b.tasks[fields[0]]; !ok {
		b.tasks[fields[0]] = len(b.Tasks)
		b.Tasks = append(b.Tasks, Task{Name: fields[0], Repo: fields[1]})
	}
	t := &b.Tasks[b.tasks[fields[0]]]
	if t.Repo != fields[1] {
		return 1, fmt.Errorf("%q, but the task was of %q before", fields[1], t.Repo)
	}
	if _, ok := b.models[fields[2]]; !ok {
		b.models[fields[2]] = len(b.Models)
		b.Models = append(b.Models, fields[2])
	}
	m := b.models[fields[2]]
	for len(t.Runs) <= m {
		t.Runs = append(t.Runs, Result{})
	}
	if t.Runs[m].Known {
		return 2, fmt.Errorf("%q has an outcome of this task already", fields[2])
	}
	run := Result{Known: true, Resolved: fields[3] == "1"}
	if fields[3] != "0" && fields[3] != "1" {
		return 3, fmt.Errorf("%q, want 0 or 1", fields[3])
	}
	run.Cost, err = strconv.ParseFloat(fields[4], 64)
	if err != nil || !(run.Cost >= 0) || math.IsInf(run.Cost, 0) {
		return 4, fmt.Errorf("%q, want a number of USD from 0", fields[4])
	}
	if len(fields) > len(columns) {
		if n, err := strconv.Atoi(fields[5]); err != nil || n < 0 {
			return 5, fmt.Errorf("%q, want a whole number from 0", fields[5])
		}
	}
	t.Runs[m] = run
	return 0, nil
}

func (b *builder) table() (Table, error) {
	if len(b.Tasks) == 0 {
		return Table{}, errors.New("no outcomes after the header")
	}
	for i := range b.Tasks {
		t := &b.Tasks[i]
		t.Runs = append(t.Runs, make([]Result, len(b.Models)-len(t.Runs))...)
	}
	return b.Table, nil
}

// plus returns a table of both tables' tasks, the receiver's first. They must share no task, and at least one model.
func (t Table) plus(o Table) (Table, error) {
	out := Table{Models: slices.Clone(t.Models)}
	for _, m := range o.Models {
		if !slices.Contains(out.Models, m) {
			out.Models = append(out.Models, m)
		}
	}
	if len(out.Models) == len(t.Models)+len(o.Models) {
		return Table{}, fmt.Errorf("no model of one table is in the other: one has %s, the other %s",
			strings.Join(t.Models, ", "), strings.Join(o.Models, ", "))
	}
	names := map[string]bool{}
	for _, from := range []Table{t, o} {
		for _, task := range from.Tasks {
			if names[task.Name] {
				return Table{}, fmt.Errorf("task %q is in both tables", task.Name)
			}
			names[task.Name] = true
			runs := make([]Result, len(out.Models))
			for m, run := range task.Runs {
				runs[slices.Index(out.Models, from.Models[m])] = run
			}
			task.Runs = runs
			out.Tasks = append(out.Tasks, task)
		}
	}
	return out, nil
}
