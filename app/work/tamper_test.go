package work

import (
	"slices"
	"strings"
	"testing"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/tamper"
)

// A run here excuses a test file with findings, unless a check of an earlier head named one of its tests as failed.
func TestRunsExcuseNoTestThatWasRed(t *testing.T) {
	const base = "package calc\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error()\n\t}\n}\n"
	changes := []tamper.Change{
		{Path: "add_test.go", Status: "modified", Old: base, Hunks: []tamper.Hunk{{OldStart: 3, NewStart: 3, Lines: []string{
			" func TestAdd(t *testing.T) {", "+\tif runtime.GOOS == \"windows\" {", "+\t\tt.Skip()", "+\t}",
			" \tif Add(1, 2) != 3 {"}}}},
		{Path: "half_test.go", Status: "deleted", Hunks: []tamper.Hunk{{OldStart: 1, Lines: []string{"-package calc",
			"-func TestHalf(t *testing.T) {", "-\tif Half(2) != 1 {", "-\t\tt.Error()", "-\t}", "-}"}}}},
	}
	found := tamper.Find(changes, nil)
	task := sia.Task{Head: "b", BaseSHA: "a"}
	task.Gate.Evidence = &sia.TestEvidence{Head: "b", Base: "a", Tests: 2, Files: []string{"add_test.go", "half_test.go"}}
	for _, c := range []struct {
		head sia.SHA
		test string
		want []string
	}{
		{"c", "TestOther", nil},
		{"b", "TestAdd", nil}, // of this head
		{"c", "TestAdd/small", []string{"add_test.go"}},
		{"c", "TestHalf", []string{"half_test.go"}},
	} {
		task.Attempts = []sia.Attempt{{Head: c.head, Failures: []sia.CheckFailure{{Tests: []string{c.test}}}}}
		paths := map[string]bool{}
		for _, f := range unexcused(task, changes, found) {
			paths[f.Path] = true
		}
		if len(paths) != len(c.want) || len(c.want) > 0 && !paths[c.want[0]] {
			t.Errorf("%s failed on %s: %v are judged by their text", c.test, c.head, paths)
		}
	}
}

// Code with a NUL byte, or with too many changed lines for a comparison of tests, is still read.
func TestStrangeCodeIsRead(t *testing.T) {
	marks := []string{"+import sys", "+TESTED = 'pytest' in sys.modules"}
	long := append(slices.Repeat([]string{"+x = 1"}, maxComparedLines), marks...)
	for name, f := range map[string]gitops.FileDiff{
		"binary": {Binary: true, BinaryHunks: []gitops.Hunk{{NewStart: 1, Lines: marks}}},
		"long":   {Hunks: []gitops.Hunk{{NewStart: 1, Lines: long}}},
	} {
		for path, want := range map[string]string{"calc.py": "the code asks whether", "test_calc.py": "beyond comparing"} {
			f.Path, f.Status = path, gitops.FileAdded
			found := tamper.Find([]tamper.Change{change(f, false)}, nil)
			if len(found) != 1 || !strings.Contains(found[0].Why, want) {
				t.Errorf("%s, %s: %v", name, path, found)
			}
		}
	}
	f := gitops.FileDiff{Path: "test/run.sh", Status: gitops.FileModified, LostExec: true}
	if found := tamper.Find([]tamper.Change{change(f, false)}, nil); len(found) != 1 || found[0].Asks() != tamper.Person {
		t.Errorf("a lost executable bit: %v", found)
	}
}
