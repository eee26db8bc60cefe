package evidence_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// hostileBase is a repository with a test that the changes below leave unchanged, and one that they make hostile.
const hostileBase = `
-- base/calc.py --
def half(a):
    return a // 2
-- base/test_calc.py --
import unittest
from calc import half

class Halves(unittest.TestCase):
    def test_half(self):
        self.assertEqual(half(4), 2)
-- base/test_more.py --
import unittest
from calc import half

class More(unittest.TestCase):
    def test_more(self):
        self.assertEqual(half(6), 3)
`

// mark is in the command line of processes that must not remain.
const mark = "86413"

// TestTestsWithoutEnd tests changes with tests that don't end. The results of the other tests are kept, and no process
// remains.
func TestTestsWithoutEnd(t *testing.T) {
	for _, c := range []struct{ name, does, left string }{
		{"endless", "while True: pass", "test_more.py: its tests did not come to an end at the head"},
		{"endless output", "while True: print('x' * 1000)", "test_more.py: its tests did not come to an end at the head"},
		{"gigabyte", "import os\n        for _ in range(1 << 10): os.write(1, b'x' * (1 << 20))",
			"the tests were ended: "},
		{"fork bomb", "import os\n        while True:\n            try: os.fork()\n            except OSError: pass",
			"test_more.py: its tests did not come to an end at the head"},
		{"children that stay", "import subprocess; [subprocess.Popen(['sleep', '" + mark + "'], " +
			"start_new_session=True) for _ in range(9)]", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := boxOptions()
			if err != nil {
				t.Fatal(err)
			}
			o.Limits = sandbox.Limits{Processes: 100, Printed: 8 << 20}
			box := sandboxtest.New(t, o)
			r := newClone(t)
			base := r.commit(txtar.Parse([]byte(hostileBase)), "base/")
			head := r.commit(txtar.Parse(fmt.Appendf(nil, `
-- head/test_more.py --
import unittest
from calc import half

class More(unittest.TestCase):
    def test_more(self):
        self.assertEqual(half(6), 3)

    def test_other(self):
        %s
`, c.does)), "head/")
			e := lookWithin(t, box, r.dir, base, head, 3*time.Second)
			if e.NotRun != "" || e.Tests == 0 || len(e.Early)+len(e.Hushed)+len(e.Gone)+len(e.Broken) > 0 {
				t.Errorf("%+v", e)
			}
			if left := strings.Join(e.Left, "\n"); !strings.Contains(left, c.left) || (left == "") != (c.left == "") {
				t.Errorf("left out: %q", e.Left)
			}
			if stay := running(t, mark); len(stay) > 0 {
				t.Errorf("still there: %q", stay)
			}
		})
	}
}

// TestEndedBatch tests that if the sandbox ends one file's tests, those after it in the batch are reported as not run,
// and not as findings.
func TestEndedBatch(t *testing.T) {
	o, err := boxOptions()
	if err != nil {
		t.Fatal(err)
	}
	o.Limits = sandbox.Limits{Printed: 8 << 20}
	box := sandboxtest.New(t, o)
	r := newClone(t)
	base := r.commit(txtar.Parse([]byte(hostileBase)), "base/")
	head := r.commit(txtar.Parse([]byte(`
-- head/calc.py --
import os

def half(a):
    for _ in range(1 << 10): os.write(1, b'x' * (1 << 20))
    return a // 2
`)), "head/")
	e := lookWithin(t, box, r.dir, base, head, time.Minute)
	if len(e.Early)+len(e.Hushed)+len(e.Gone)+len(e.Dropped)+len(e.Broken) > 0 {
		t.Errorf("%+v", e)
	}
	if left := strings.Join(e.Left, "\n"); !strings.Contains(left, "it printed more than 8 MiB") ||
		!strings.Contains(left, "test_more.py: its tests were not run at the head") {
		t.Errorf("left out: %q", e.Left)
	}
}

// TestNameWithALineBreak tests that a file name can't fake a second run of another file's tests with differing results.
func TestNameWithALineBreak(t *testing.T) {
	const test = `const {test} = require('node:test')
const assert = require('node:assert')
const {half, add} = require('../calc')
test('halves', () => assert.equal(half(4), 2))
test('adds', () => assert.equal(add(1, 2), %d))
`
	r := newClone(t)
	file := func(name, text string) txtar.File { return txtar.File{Name: name, Data: []byte(text)} }
	base := r.commit(&txtar.Archive{Files: []txtar.File{
		file("package.json", `{"scripts": {"test": "node --test"}}`),
		file("calc.js", "exports.half = a => a / 2\nexports.add = (a, b) => a + b\n"),
		file("test/calc.test.js", fmt.Sprintf(test, 3)),
	}}, "")
	head := r.commit(&txtar.Archive{Files: []txtar.File{
		file("calc.js", "exports.half = a => a / 2\nexports.add = (a, b) => a - b\n"),
		file("test/calc.test.js", fmt.Sprintf(test, -1)),
		file("test/calc.test.js\n/x.test.js", "require('node:test').test('other', () => {})\n"),
	}}, "")
	e := r.look(newBox(t), base, head)
	if want := "tests: 2\nbroken: test/calc.test.js::adds\n"; shown(e) != want {
		t.Errorf("%s%q", shown(e), e.Left)
	}
}

// lookWithin checks a change, with within as the limit of one run of one group.
func lookWithin(t *testing.T, box *sandbox.Sandbox, dir, base, head string, within time.Duration) sia.TestEvidence {
	t.Helper()
	h, err := gitops.OpenHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	own := filepath.Join(caches, t.Name())
	r := testrun.NewRunner(box, h, own, nil, 0)
	r.RunWithin = within
	e, err := evidence.Look(t.Context(), evidence.Spec{History: h, Base: base, Head: head, Runner: r, Dir: own})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// running returns the processes with a text in their command line.
func running(t *testing.T, text string) (out []string) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if b, err := os.ReadFile(n); err == nil && strings.Contains(string(b), text) {
			out = append(out, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return out
}

// lookAlone checks a change in a separate process: folder of the repository, base, head, folder of results.
func lookAlone(args []string) int {
	err := func() error {
		o, err := boxOptions()
		if err != nil {
			return err
		}
		box, err := sandbox.New(o, sandbox.Probe(context.Background(), o))
		if err != nil {
			return err
		}
		h, err := gitops.OpenHistory(args[0])
		if err != nil {
			return err
		}
		defer h.Close()
		r := testrun.NewRunner(box, h, args[3], nil, 0)
		r.RunWithin = 5 * time.Second
		_, err = evidence.Look(context.Background(), evidence.Spec{History: h, Base: args[1], Head: args[2], Runner: r,
			Dir: args[3]})
		return err
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestKilledLook kills a server while the head's tests run. They end at the limit of a run at the latest, and the next
// server continues: the base's tests are not run again, and findings are not repeated.
func TestKilledLook(t *testing.T) {
	box := newBox(t)
	own := filepath.Join(caches, t.Name())
	build := filepath.Join(own, "build") // mounted at buildAt for tests
	if err := os.MkdirAll(build, 0o700); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(build, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	test := func(tree, then string) string {
		return fmt.Sprintf(`import os, time, unittest
open("%[1]s/runs", "a").write("%[2]s\n")
%[3]s
class Halves(unittest.TestCase):
    def test_%[2]s(self): pass
    def test_half(self): pass
`, sandbox.CacheDir+"/build", tree, then)
	}
	waits := fmt.Sprintf(`try:
    said = os.open("%s/build/pipe", os.O_WRONLY | os.O_NONBLOCK)
except OSError:
    pass # nobody listens any more
else:
    os.write(said, b"head")
    time.sleep(60)
`, sandbox.CacheDir)
	r := newClone(t)
	base := r.commit(&txtar.Archive{Files: []txtar.File{{Name: "test_half.py", Data: []byte(test("base", ""))}}}, "")
	head := r.commit(&txtar.Archive{Files: []txtar.File{{Name: "test_half.py", Data: []byte(test("head", waits))}}}, "")

	from, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(pipe, os.O_WRONLY, 0) // keeps the pipe open until a writer exists
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := exec.CommandContext(t.Context(), self, "look", r.dir, base, head, own)
	server.Stderr = t.Output()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Wait() // it was killed
		_, _ = to.WriteString("ended")
	}()
	said := make([]byte, 4)
	if _, err := io.ReadFull(from, said); err != nil || string(said) != "head" {
		t.Fatalf("%q %v", said, err)
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(from); err != nil { // waits for the tests, too
		t.Fatal(err)
	}
	from.Close()

	e := lookWithin(t, box, r.dir, base, head, time.Minute)
	if want := "tests: 2\nfiles: test_half.py\ndropped: test_half.py::test_half.Halves.test_base\n"; shown(e) != want {
		t.Errorf("%s%q", shown(e), e.Left)
	}
	runs, err := os.ReadFile(filepath.Join(build, "runs"))
	if want := "base\nhead\nhead\n"; err != nil || string(runs) != want { // on the head, the base's tests equal the base
		t.Errorf("%q %v", runs, err)
	}
}
