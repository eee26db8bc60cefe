package attempts

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write writes files below a new folder.
func write(t *testing.T, files map[string]any) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		b, err := json.Marshal(content)
		if text, ok := content.(string); ok {
			b = []byte(text)
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

type record map[string]any

// Two coders at two tasks, one of which the first coder resolves at its third attempt.
func TestRounds(t *testing.T) {
	tried := func(task, attempt int, text string) record {
		return record{"task_id": task, "attempt_num": attempt, "error": text}
	}
	folder := func(name, file string) string {
		return "rq1/mbpp_sanitized_" + name + "/results_X_0.5_ROWS_0.5_TD_PUBLIC_5_REATTEMPT/runner_" + file + ".json"
	}
	const assertion = "Traceback (most recent call last):\n  File \"x_test.py\", line 4, in check\n    " +
		"assert f(1) == 2\nAssertionError\n"
	dir := write(t, map[string]any{
		folder("a", "passed"):    map[string][]record{"m": {tried(1, 3, ""), tried(2, 1, "")}},
		folder("a", "fails"):     map[string][]record{"m": {tried(1, 1, assertion), tried(1, 2, assertion)}},
		folder("a_td", "passed"): map[string][]record{"m": {tried(1, 1, "")}},
		folder("b", "passed"):    map[string][]record{"n": {tried(1, 1, "")}},
		folder("b", "errors"):    map[string][]record{"n": {tried(2, 2, "x")}}, // its earlier attempts are not recorded
		"rq1/mbpp_sanitized_a/results_X_0.1_ROWS_0.5_TD_PUBLIC_3_REATTEMPT/runner_passed.json": "not read",
	})
	s, err := Rounds(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	failed := Try{Class: "test_failure"}
	want := Source{Name: "rounds", Told: true, Cases: []Case{
		{Task: "mbpp_sanitized 1", Repo: "mbpp_sanitized", First: failed, Ways: map[string][]Try{
			Again: {failed, {Resolved: true}}, Changed: {{Resolved: true}}, Other: {{Resolved: true}}}},
		{Task: "mbpp_sanitized 1", Repo: "mbpp_sanitized", First: Try{Resolved: true}, Ways: map[string][]Try{
			Again: {}, Changed: nil, Other: {failed}}},
		{Task: "mbpp_sanitized 2", Repo: "mbpp_sanitized", First: Try{Resolved: true}, Ways: map[string][]Try{
			Again: {}, Changed: nil}},
	}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	if _, err := Rounds(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "check the whole") {
		t.Errorf("an empty folder: %v", err)
	}
	broken := write(t, map[string]any{folder("a", "passed"): map[string][]record{"m": {tried(1, 6, "")}}})
	if _, err := Rounds(t.Context(), broken); err == nil || !strings.Contains(err.Error(), "attempt 6") {
		t.Errorf("a sixth attempt: %v", err)
	}
}

func TestCodeRover(t *testing.T) {
	files := map[string]any{"results/acr-run-1/tasks.txt": "a__b-1\na__b-2\n"}
	patch := func(tasks ...string) (out []record) {
		for _, task := range tasks {
			out = append(out, record{"instance_id": task, "model_patch": "diff"})
		}
		return out
	}
	for _, run := range []string{"acr-run-1", "acr-run-2", "acr-run-3", "acr-val-only", "acr-val-sbfl"} {
		files["results/"+run+"/predictions_for_swebench.json"] = patch("a__b-1")
		files["results/"+run+"/old_eval_results/final_report.json"] = record{"resolved": []string{}}
	}
	files["results/acr-run-2/old_eval_results/final_report.json"] = record{"resolved": []string{"a__b-1"}}
	for i := range 3 {
		at := fmt.Sprintf("results/swe-agent-results/cost_2_%d/", i+1)
		files[at+"all_preds.json"], files[at+"final_report.json"] = patch(), record{"resolved": []string{"a__b-2"}}
	}
	dir := write(t, files)
	s, err := CodeRover(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Cases) != 6 {
		t.Fatalf("two tasks and three runs are %d cases", len(s.Cases))
	}
	wrong, right, none := Try{Class: wrongPatch}, Try{Resolved: true}, Try{Class: noPatch}
	want := Case{Task: "a__b-1", Repo: "a", First: wrong, Ways: map[string][]Try{
		Again: {right, wrong}, Tools: {wrong, wrong}, Other: {none, none, none}}}
	if diff := cmp.Diff(want, s.Cases[0]); diff != "" {
		t.Error(diff)
	}
	if c := s.Cases[3]; c.First != none || c.Ways[Other][0] != right {
		t.Errorf("the second task: %+v", c)
	}
	if err := os.Remove(filepath.Join(dir, "results", "acr-val-only", "predictions_for_swebench.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := CodeRover(dir); err == nil || !strings.Contains(err.Error(), "acr-val-only") {
		t.Errorf("without a run: %v", err)
	}
}

// made returns a source of so many tasks in which one continuation works after one class of failure, and another after
// the other.
func made(tasks int) (s Source) {
	failed, right := Try{Class: "x"}, Try{Resolved: true}
	for i := range tasks {
		c := Case{Task: fmt.Sprint(i), Repo: "r", First: failed, Ways: map[string][]Try{
			Again: {failed, failed}, Changed: {right, failed}, Other: {failed, failed}}}
		if i%2 == 0 {
			c.First.Class, c.Ways[Changed], c.Ways[Other] = "y", c.Ways[Other], c.Ways[Changed]
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

func figure(t *testing.T, figures []Figure, what string) Figure {
	t.Helper()
	for _, f := range figures {
		if strings.HasPrefix(f.What, what) {
			return f
		}
	}
	t.Fatalf("there is no figure %q in %+v", what, figures)
	return Figure{}
}

func TestFigures(t *testing.T) {
	s := made(100)
	s.Told = true
	got := Figures(s)
	for what, want := range map[string]float64{
		"attempt 1 of the same": 0, "after a failure: changed, over again": .5, "after x: changed": 1, "after y: changed": 0,
		"after y: other, over again": .5, // without the failure, so either of the two other coders counts
	} {
		f := figure(t, got, what)
		if f.Value != want || f.Low > want || f.High < want || f.Tasks != f.Cases {
			t.Errorf("%s: %+v, want %v", what, f, want)
		}
	}
	if few := Figures(made(leastCases - 1)); len(few) != 0 {
		t.Errorf("of few cases there are figures: %+v", few)
	}
}

// If the class determines which continuation works, the learner finds it, and no fixed order does.
func TestPlay(t *testing.T) {
	s := made(400)
	for i := range s.Cases { // one further attempt shows which player learned it
		for way, tries := range s.Cases[i].Ways {
			s.Cases[i].Ways[way] = tries[:1]
		}
	}
	got, err := Play(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if f := figure(t, got, "changed, then other"); f.Value != 1 {
		t.Errorf("who takes every way resolves %+v", f)
	}
	for i := range s.Cases {
		for range 3 { // earlier failures use up the attempts
			s.Cases[i].Ways[Again] = append(s.Cases[i].Ways[Again], Try{Class: "x"})
		}
	}
	again, err := Play(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if f := figure(t, again, "again, then again"); f.Value != 0 {
		t.Errorf("the same again resolves %+v", f)
	}
	if f := figure(t, again, "SIA's learner, over chance"); f.Low <= 0 {
		t.Errorf("the learner is not ahead of chance: %+v", f)
	}
	twice, err := Play(t.Context(), s)
	if diff := cmp.Diff(again, twice); diff != "" || err != nil {
		t.Errorf("played again, the figures differ: %v\n%s", err, diff)
	}
}

func TestAider(t *testing.T) {
	got, err := Aider()
	if err != nil {
		t.Fatal(err)
	}
	if f := figure(t, got, "polyglot, all models"); f.Tasks != 69 || f.Low >= f.Value || f.High <= f.Value {
		t.Errorf("%+v", f)
	}
	if _, err := readAider("h,h,h,h,h,h,h,h,h\nedit,m,diff,ten,1,2,0,0,0\n"); err == nil ||
		!strings.Contains(err.Error(), "row 2") {
		t.Errorf("a number in words: %v", err)
	}
}
