package runner

import (
	"errors"
	"fmt"
	"strings"
)

// maxCalls is GitHub's limit of reusable workflows that call one another.
// https://docs.github.com/en/actions/reference/workflows-and-actions/reusable-workflows#limitations-of-reusable-workflows
const maxCalls = 10

// Follow reads the reusable workflows of the same repository that jobs call. Those of other repositories are not run.
func (w *Workflow) Follow(read func(path string) ([]byte, error)) error { return w.follow(read, 0) }

func (w *Workflow) follow(read func(path string) ([]byte, error), depth int) error {
	w.called = map[string]*Workflow{}
	for key, j := range w.file.Jobs {
		path, own := strings.CutPrefix(j.Uses, "./")
		if !own {
			continue
		}
		if depth == maxCalls {
			return errors.New("too many workflows call one another")
		}
		text, err := read(path)
		if err != nil {
			return fmt.Errorf("error parsing called workflow %q: workflow was not found", j.Uses)
		}
		called, err := Parse(text)
		if err == nil {
			err = called.follow(read, depth+1)
		}
		if err != nil {
			return fmt.Errorf("error parsing called workflow %q: %w", j.Uses, err)
		}
		w.called[key] = called
	}
	return nil
}

// Of reports whether a job belongs to a key of the file: the job itself, or one that it calls.
func (j Job) Of(key string) bool {
	rest, is := strings.CutPrefix(j.Key, key)
	return is && (rest == "" || strings.HasPrefix(rest, " / ") || strings.HasPrefix(rest, " ("))
}

// within are the jobs that a job calls, named after it. They need one another, and start when it would.
func (j Job) within() ([]Job, error) {
	all, err := j.calls.jobs(j.github)
	key := jobName(j.Key, jobFile{}, j.matrix, nil)
	for i := range all {
		one := &all[i]
		one.Key, one.Name = key+" / "+one.Key, j.Name+" / "+one.Name
		for n := range one.Needs {
			one.Needs[n] = key + " / " + one.Needs[n]
		}
	}
	return all, err
}
