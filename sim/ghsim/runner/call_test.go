package runner

import (
	"errors"
	"slices"
	"testing"
)

// A job that calls a reusable workflow makes its jobs when it would start, for each combination of its matrix.
func TestReusableWorkflow(t *testing.T) {
	w, err := Parse([]byte("on: push\njobs:\n  setup: {steps: [{run: x}]}\n" +
		"  suite: {needs: setup, strategy: {matrix: {v: [1, 2]}}, uses: ./called.yml}\n"))
	if err != nil {
		t.Fatal(err)
	}
	called := []byte("on: workflow_call\njobs:\n  unit: {name: Unit, steps: [{run: x}]}\n" +
		"  ok: {needs: unit, if: always(), steps: [{run: x}]}\n")
	if err := w.Follow(func(path string) ([]byte, error) { return called, nil }); err != nil {
		t.Fatal(err)
	}
	jobs, err := w.Plan(Event{Name: "push"})
	if err != nil || len(jobs) != 2 || !jobs[1].Waits() {
		t.Fatalf("%+v, %v", jobs, err)
	}
	within, err := jobs[1].Expand()
	var names []string
	for _, j := range within {
		names = append(names, j.Name)
		if !j.Of("suite") || j.Of("suit") {
			t.Errorf("%q is of another", j.Key)
		}
	}
	want := []string{"suite (1) / Unit", "suite (1) / ok", "suite (2) / Unit", "suite (2) / ok"}
	if err != nil || !slices.Equal(names, want) {
		t.Fatalf("%q, %v", names, err)
	}
	if ok := within[1]; !slices.Equal(ok.Needs, []string{"suite (1) / unit"}) || !within[0].Of(ok.Needs[0]) {
		t.Errorf("needs %q", ok.Needs)
	}
	if err := w.Follow(func(string) ([]byte, error) { return nil, errors.New("no such file") }); err == nil {
		t.Error("what is not there is called")
	}
	self := func(string) ([]byte, error) { return []byte("on: workflow_call\njobs: {a: {uses: ./called.yml}}"), nil }
	if err := w.Follow(self); err == nil {
		t.Error("workflows call one another without end")
	}
}
