//test:plain
package recorded_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/lab/recorded"
	"github.com/sia-bot/sia/policies"
)

const header = "task,repo,model,resolved,cost_usd,calls\n"

func TestRead(t *testing.T) {
	got, err := recorded.Read(strings.NewReader("\ufeff" + header + "1,o/r,a,1,0.5,3\n2,o/s,b,0,0,0\n2,o/s,a,0,1e-2,1\n"))
	want := recorded.Table{Models: []string{"a", "b"}, Tasks: []recorded.Task{
		{Name: "1", Repo: "o/r", Runs: []recorded.Result{{Known: true, Resolved: true, Cost: 0.5}, {}}},
		{Name: "2", Repo: "o/s", Runs: []recorded.Result{{Known: true, Cost: 0.01}, {Known: true}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := recorded.Read(strings.NewReader("task,repo,model,resolved,cost_usd\n1,o/r,a,1,0.5\n")); err != nil {
		t.Errorf("without calls: %v", err)
	}
}

// An error names the place.
func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"", "read the header: EOF"},
		{header, "no outcomes"},
		{"task,repo,model,resolved\n", "row 1: the columns are"},
		{header + "1,o/r,a,1,0.5\n", "row 2: 5 columns, want 6"},
		{header + "1,o/r,a,1,0.5,3\n,o/r,b,1,0.5,3\n", "row 3, column task: is empty"},
		{header + "1,,a,1,0.5,3\n", "row 2, column repo: is empty"},
		{header + "1,o/r, ,1,0.5,3\n", "row 2, column model: is empty"},
		{header + "1,o/r,a,yes,0.5,3\n", `row 2, column resolved: "yes", want 0 or 1`},
		{header + "1,o/r,a,,0.5,3\n", `row 2, column resolved: ""`},
		{header + "1,o/r,a,1,,3\n", `row 2, column cost_usd: "", want a number`},
		{header + "1,o/r,a,1,-1,3\n", `row 2, column cost_usd: "-1"`},
		{header + "1,o/r,a,1,NaN,3\n", `row 2, column cost_usd: "NaN"`},
		{header + "1,o/r,a,1,+Inf,3\n", `row 2, column cost_usd: "+Inf"`},
		{header + "1,o/r,a,1,1,x\n", `row 2, column calls: "x"`},
		{header + "1,o/r,a,1,1,1\n1,o/r,a,0,1,1\n", `row 3, column model: "a" has an outcome`},
		{header + "1,o/r,a,1,1,1\n1,o/s,b,0,1,1\n", `row 3, column repo: "o/s", but the task was of "o/r"`},
		{header + "1,o/r,\"a,1,1,1\n", "read outcomes: "},
	} {
		if _, err := recorded.Read(strings.NewReader(c.source)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.source, err, c.want)
		}
	}
}

// world is a table in which the cheap model resolves half of the tasks, the expensive one these and a quarter
// more, and a third, equally expensive one, none.
func world(t testing.TB, from, to int) recorded.Table {
	var b strings.Builder
	b.WriteString(header)
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "%d,o/r%d,useless,0,1,9\n%d,o/r%d,cheap,%d,0.02,9\n", i, i%3, i, i%3, (i/2)%2)
		if i%7 > 0 { // the expensive one did not try every task
			fmt.Fprintf(&b, "%d,o/r%d,dear,%d,1,9\n", i, i%3, min(1, i%4))
		}
	}
	table, err := recorded.Read(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func plan(t testing.TB) recorded.Plan {
	t.Helper()
	assign := policies.ShippedAssign()
	return recorded.Plan{Table: world(t, 0, 120), Values: []float64{0.5, 8}, Halves: 2, Streams: 2, Seed: 1,
		Parameters: assign.Parameters}
}

func run(t *testing.T, p recorded.Plan) []recorded.Section {
	t.Helper()
	out, err := recorded.Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func find(t *testing.T, secs []recorded.Section, setting string, value float64, player string) recorded.Row {
	t.Helper()
	for _, s := range secs {
		for _, r := range s.Rows {
			if s.Setting == setting && s.Value == value && r.Player == player {
				return r
			}
		}
	}
	t.Fatalf("no %s, %v USD, %s", setting, value, player)
	return recorded.Row{}
}

// The same seed gives the same result, and other seeds give another.
func TestDeterministic(t *testing.T) {
	p := plan(t)
	first := run(t, p)
	if diff := cmp.Diff(first, run(t, p)); diff != "" {
		t.Errorf("the same seed gives something else:\n%s", diff)
	}
	if p.Seed++; cmp.Equal(first, run(t, p)) {
		t.Error("another seed gives the same")
	}
}

// Figures that can be computed by hand, from one table to another.
func TestTrained(t *testing.T) {
	p, train := plan(t), world(t, 1000, 1120)
	p.Train = &train
	secs := run(t, p)
	alone := find(t, secs, "offline", 8, "cheapest first")
	if alone.Attempts < 1.5 || alone.Resolved < .6 || alone.Low > alone.Net || alone.Net > alone.High {
		t.Errorf("cheapest first: %+v", alone)
	}
	if net := 8*alone.Resolved - alone.Cost; net-alone.Net > 1e-9 || alone.Net-net > 1e-9 {
		t.Errorf("net %v is not what resolved tasks are worth less what they cost, %v", alone.Net, net)
	}
	// at 0.5 USD only the cheap one is worth its cost: a quarter of 0.5 for 1 is not
	if got := find(t, secs, "offline", 0.5, "ours"); got.Attempts != 1 || got.Cost > 0.0201 || got.Resolved != 0.5 {
		t.Errorf("ours at 0.5 USD: %+v", got)
	}
	if got := find(t, secs, "offline", 8, "ours"); got.Attempts > 1.6 || got.Resolved < .65 {
		t.Errorf("ours at 8 USD asks the useless one: %+v", got)
	}
	random := find(t, secs, "online, tasks 1–100", 8, "random")
	if got := find(t, secs, "online, tasks 1–100", 8, "ours"); got.Net <= random.Net {
		t.Errorf("ours, learning: %+v, no better than random", got)
	}
	if got := secs[len(secs)-1]; got.Setting != "online, tasks 101–240" {
		t.Errorf("the last window is %q, of all tasks", got.Setting)
	}
}

func TestPlansAreChecked(t *testing.T) {
	for name, change := range map[string]func(*recorded.Plan){
		"at least one half": func(p *recorded.Plan) { p.Halves = 0 },
		"stream":            func(p *recorded.Plan) { p.Streams = 0 },
		"more than 0":       func(p *recorded.Plan) { p.Values = []float64{0} },
		"two tasks":         func(p *recorded.Plan) { p.Table = world(t, 1, 2) },
		"in both tables":    func(p *recorded.Plan) { p.Train = &p.Table },
		"no model of one table is in the other": func(p *recorded.Plan) {
			train := world(t, 1000, 1100)
			train.Models = []string{"x", "y", "z"}
			p.Train = &train
		},
	} {
		p := plan(t)
		change(&p)
		if _, err := recorded.Run(context.Background(), p); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := recorded.Run(ctx, plan(t)); err == nil {
		t.Error("a run that was cancelled goes on")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(header + "1,o/r,a,1,0.5,3\n")
	f.Fuzz(func(t *testing.T, source string) {
		table, err := recorded.Read(strings.NewReader(source))
		if err != nil {
			return
		}
		for _, task := range table.Tasks {
			if len(task.Runs) != len(table.Models) {
				t.Errorf("%q has %d outcomes of %d models", task.Name, len(task.Runs), len(table.Models))
			}
		}
	})
}
