package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/gitops"
)

// TaskVersion is the version of a task's JSON. Fields are only added within one.
const TaskVersion = 1

// Task is a commit of a repository's history to be made again: its tests fail on its
// parent, and pass with the commit.
//
// Tests are named "group::name". The group is the folder or file that is run, and the
// name is the runner's. Declarations have the language's names; the second of several with the same name is
// "name#2".
type Task struct {
	Version  int    `json:"version"`
	ID       string `json:"id"`     // the first twelve digits of Commit
	Repo     string `json:"repo"`   // owner/name, or the folder's name if there is no origin
	Parent   string `json:"parent"` // commit at which an attempt starts
	Commit   string `json:"commit"`
	Language string `json:"language"`

	Tests   []string            `json:"tests"`              // files of Commit that are added to the parent
	LeftOut map[string][]string `json:"left_out,omitempty"` // declarations that are removed from files of Tests
	Without []string            `json:"without,omitempty"`  // test files that Commit deleted
	Failing []string            `json:"failing"`            // fail on the parent and pass with the commit; at least one
	Passing []string            `json:"passing,omitempty"`  // pass in both trees, and must continue to

	Title string    `json:"title"`           // of the issue if known, else the commit's first line
	Text  string    `json:"text"`            // of the issue if known, else the rest of the commit's message
	Issue int       `json:"issue,omitempty"` // that the commit closes; 0: none
	Files []string  `json:"files"`           // changed by Commit, without tests
	Mined time.Time `json:"mined"`

	Remembered bool `json:"-"` // a [Source] found it on the memory branch only
}

// ReadTask reads a task from JSON. Invalid tasks are an error.
func ReadTask(b []byte) (Task, error) {
	var t Task
	if err := json.Unmarshal(b, &t); err != nil {
		return t, fmt.Errorf("read replay task: %w", err)
	}
	switch {
	case t.Version > TaskVersion:
		return t, fmt.Errorf("read replay task %q: it has version %d, and this program knows %d: bring SIA up to date",
			t.ID, t.Version, TaskVersion)
	case t.Version < 1 || !isID(t.ID) || !isSHA(t.Commit) || !strings.HasPrefix(t.Commit, t.ID) || !isSHA(t.Parent) ||
		len(t.Failing) == 0 || len(t.Tests) == 0:
		return t, fmt.Errorf("read replay task %q: version, id, commit, parent, tests and failing have to be there", t.ID)
	case languageNamed(t.Language) == nil:
		return t, fmt.Errorf("read replay task %s: this program can't run tests of %q", t.ID, t.Language)
	}
	return t, nil
}

// Encode returns the task in the format of the files on disk and on the memory branch.
func (t Task) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode replay task %s: %w", t.ID, err)
	}
	return append(b, '\n'), nil
}

const idDigits = 12

// isID reports whether s has the form of a task's id. Ids become file names.
func isID(s string) bool { return len(s) == idDigits && strings.Trim(s, "0123456789abcdef") == "" }

func isSHA(s string) bool { return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == "" }

// MemoryDir is the folder of the memory branch for tasks.
const MemoryDir = ".sia/replay"

// MemoryPath returns the path of the task on the memory branch.
func (t Task) MemoryPath() string { return MemoryDir + "/" + t.ID + ".json" }

// Memory is a repository's memory branch. Files are by path.
type Memory interface {
	ReadMemory(ctx context.Context, folder string) (map[string][]byte, error)
	WriteMemory(ctx context.Context, message string, files map[string][]byte) (sha string, err error)
}

// Remembered reads the tasks on the memory branch. broken are files that can't be read, with the reason.
func Remembered(ctx context.Context, m Memory) (tasks []Task, broken []string, err error) {
	found, err := m.ReadMemory(ctx, MemoryDir)
	if err != nil {
		return nil, nil, err
	}
	tasks, broken = ReadTasks(found)
	return tasks, broken, nil
}

// Remember commits tasks to the memory branch and returns its head.
func Remember(ctx context.Context, m Memory, tasks []Task) (sha string, err error) {
	files := map[string][]byte{}
	for _, t := range tasks {
		if files[t.MemoryPath()], err = t.Encode(); err != nil {
			return "", err
		}
	}
	return m.WriteMemory(ctx, fmt.Sprintf("%d replay tasks", len(tasks)), files)
}

// ReadTasks reads tasks from a folder's files, by path, in the order of their ids. broken are files that are not
// tasks, with the reason.
func ReadTasks(found map[string][]byte) (tasks []Task, broken []string) {
	for _, p := range slices.Sorted(maps.Keys(found)) {
		if path.Ext(p) != ".json" {
			continue
		}
		t, err := ReadTask(found[p])
		if err != nil {
			broken = append(broken, fmt.Sprintf("%s: %v", p, err))
			continue
		}
		tasks = append(tasks, t)
	}
	return tasks, broken
}

// tasksIn returns the tasks on a clone's memory branch.
func tasksIn(ctx context.Context, h *gitops.History, branch string) (tasks []Task, broken []string, err error) {
	head, err := h.Branch(branch)
	if err != nil {
		return nil, nil, err
	}
	found, err := filesAt(ctx, h, head, maxKept, func(p string) bool { return strings.HasPrefix(p, MemoryDir+"/") })
	if err != nil {
		return nil, nil, err
	}
	tasks, broken = ReadTasks(found)
	return tasks, broken, nil
}
