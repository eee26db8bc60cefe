package attempts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/failure"
)

// Try is one attempt.
type Try struct {
	Resolved bool
	Class    string // of its failure; "" if it resolved, or if not recorded
}

// The continuations after a failure. Each is the next of its kind: Again twice is a third attempt of the same.
const (
	Again   = "again"   // the same coder with the same instructions
	Changed = "changed" // the same coder with other instructions
	Tools   = "tools"   // the same coder with more tools
	Other   = "other"   // another coder with the same instructions
)

// Case is one task and its first coder, with the result of the first attempt and of each continuation. All
// of them were actually run.
type Case struct {
	Task  string // clusters intervals: cases of one task are not independent
	Repo  string
	First Try
	Ways  map[string][]Try // by continuation, in the order of their use
}

// Source is a set of recorded cases.
type Source struct {
	Name  string
	Told  bool // Again had the failure of the attempt before
	Cases []Case
}

// roundsFolder matches the folder of one coder's attempts at one half of a benchmark, with one kind of instructions.
var roundsFolder = regexp.MustCompile(`^rq1/(human_eval|mbpp_sanitized)_([a-z0-9]+?)(_second_half)?(_td)?/` +
	`results_[A-Z0-9_]+_0\.5_ROWS_0\.5_TD_PUBLIC_5_REATTEMPT(_second_half)?/runner_(passed|fails|errors)\.json$`)

// thread is one coder's attempts at one task, each with the failure of the one before.
type thread struct{ task, coder, instructions string }

// Rounds reads a checkout of
// github.com/madnanrizqu/model-agnostic-empirical-evaluation-of-test-driven-prompt-engineering: eight models at the
// tasks of HumanEval and MBPP, up to five attempts each, with the test results. Each did so twice: with the task
// alone, and with half of its tests shown ([Changed]). SIA's own log reader classifies the failures.
func Rounds(ctx context.Context, dir string) (Source, error) {
	threads := map[thread][]Try{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		m := roundsFolder.FindStringSubmatch(filepath.ToSlash(rel))
		if m == nil {
			return nil
		}
		if err := readRounds(ctx, path, m, threads); err != nil {
			return fmt.Errorf("%s: %w", rel, err)
		}
		return nil
	})
	if err != nil {
		return Source{}, fmt.Errorf("read rounds: %w", err)
	}
	cases := roundsCases(threads)
	if len(cases) == 0 {
		return Source{}, fmt.Errorf("read rounds: %s has no rq1/…/runner_passed.json; check the whole repository out", dir)
	}
	return Source{Name: "rounds", Told: true, Cases: cases}, nil
}

// readRounds adds the attempts of a file to their threads.
func readRounds(ctx context.Context, path string, m []string, threads map[thread][]Try) error {
	var byModel map[string][]struct {
		Task    any    `json:"task_id"` // a number or a text
		Attempt int    `json:"attempt_num"`
		Error   string `json:"error"`
	}
	if err := readJSON(path, &byModel); err != nil {
		return err
	}
	for _, tries := range byModel {
		for _, t := range tries {
			if t.Attempt < 1 || t.Attempt > approaches {
				return fmt.Errorf("task %v has an attempt %d; want 1 to %d", t.Task, t.Attempt, approaches)
			}
			key := thread{fmt.Sprintf("%s %v", m[1], t.Task), m[2], m[4]}
			all := threads[key]
			for len(all) < t.Attempt {
				all = append(all, Try{})
			}
			all[t.Attempt-1] = Try{Resolved: m[6] == "passed"}
			if m[6] != "passed" {
				report, err := failure.Read(ctx, strings.NewReader(t.Error), failure.Options{})
				if err != nil {
					return err
				}
				all[t.Attempt-1].Class = string(report.Class)
			}
			threads[key] = all
		}
	}
	return nil
}

// roundsCases returns the threads as cases: each coder begins each task with the task alone.
func roundsCases(threads map[thread][]Try) (cases []Case) {
	keys := make([]thread, 0, len(threads))
	var coders []string
	for key, tries := range threads {
		if slices.Contains(tries, Try{}) {
			continue // an earlier attempt is not recorded
		}
		keys = append(keys, key)
		if !slices.Contains(coders, key.coder) {
			coders = append(coders, key.coder)
		}
	}
	slices.Sort(coders)
	slices.SortFunc(keys, func(a, b thread) int { return strings.Compare(a.task+" "+a.coder, b.task+" "+b.coder) })
	for _, key := range keys {
		if key.instructions != "" {
			continue
		}
		tries := threads[key]
		repo, _, _ := strings.Cut(key.task, " ")
		c := Case{Task: key.task, Repo: repo, First: tries[0], Ways: map[string][]Try{Again: tries[1:]}}
		if shown := threads[thread{key.task, key.coder, "_td"}]; !slices.Contains(shown, Try{}) {
			c.Ways[Changed] = shown
		}
		at := slices.Index(coders, key.coder)
		for i := range len(coders) - 1 {
			other := threads[thread{key.task, coders[(at+1+i)%len(coders)], ""}]
			if len(other) > 0 && other[0] != (Try{}) {
				c.Ways[Other] = append(c.Ways[Other], other[0])
			}
		}
		cases = append(cases, c)
	}
	return cases
}

// The classes of CodeRover's failures.
const (
	noPatch    = "no patch"
	wrongPatch = "wrong patch"
)

// CodeRover reads a checkout of github.com/nus-apr/auto-code-rover: its folder results has three independent runs of
// one agent at the 300 tasks of SWE-bench Lite, one in which it ran the repository's tests, one in which it located the
// fault by them, too ([Tools]), and three runs of another agent with the same model ([Other]). No run knew of a
// failure in another. The same, older evaluation judges all. Each of the three can be the first attempt.
func CodeRover(dir string) (Source, error) {
	results := filepath.Join(dir, "results")
	tasks, err := os.ReadFile(filepath.Join(results, "acr-run-1", "tasks.txt"))
	if err != nil {
		return Source{}, fmt.Errorf("read auto-code-rover: %w", err)
	}
	var runs [8]run
	for i, folder := range []string{"acr-run-1", "acr-run-2", "acr-run-3", "acr-val-only", "acr-val-sbfl",
		"swe-agent-results/cost_2_1", "swe-agent-results/cost_2_2", "swe-agent-results/cost_2_3"} {
		if runs[i], err = readRun(filepath.Join(results, filepath.FromSlash(folder)), i < 5); err != nil {
			return Source{}, fmt.Errorf("read auto-code-rover, %s: %w", folder, err)
		}
	}
	s := Source{Name: "auto-code-rover"}
	for _, task := range strings.Fields(string(tasks)) {
		repo, _, _ := strings.Cut(task, "__")
		var t [len(runs)]Try
		for i, r := range runs {
			t[i] = r.of(task)
		}
		for i := range 3 {
			s.Cases = append(s.Cases, Case{Task: task, Repo: repo, First: t[i], Ways: map[string][]Try{
				Again: {t[(i+1)%3], t[(i+2)%3]}, Tools: {t[4], t[3]}, Other: {t[5], t[6], t[7]},
			}})
		}
	}
	return s, nil
}

// run lists the tasks of one run with a patch, and whether each is right.
type run struct{ patched, resolved map[string]bool }

func (r run) of(task string) Try {
	switch {
	case r.resolved[task]:
		return Try{Resolved: true}
	case r.patched[task]:
		return Try{Class: wrongPatch}
	}
	return Try{Class: noPatch}
}

func readRun(dir string, rover bool) (run, error) {
	r := run{map[string]bool{}, map[string]bool{}}
	predictions, report := "all_preds.json", "final_report.json"
	if rover {
		predictions, report = "predictions_for_swebench.json", filepath.Join("old_eval_results", "final_report.json")
	}
	var patches []struct {
		Task  string `json:"instance_id"`
		Patch string `json:"model_patch"`
	}
	var judged struct {
		Resolved []string `json:"resolved"`
	}
	if err := errors.Join(readJSON(filepath.Join(dir, predictions), &patches),
		readJSON(filepath.Join(dir, report), &judged)); err != nil {
		return r, err
	}
	for _, p := range patches {
		r.patched[p.Task] = strings.TrimSpace(p.Patch) != ""
	}
	for _, task := range judged.Resolved {
		r.resolved[task] = true
	}
	return r, nil
}

// readJSON reads a file. Its errors name it.
func readJSON(path string, into any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return nil
}
