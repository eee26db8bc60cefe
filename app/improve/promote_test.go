package improve_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	place "github.com/sia-bot/sia/app/improve"
	"github.com/sia-bot/sia/sia/improve"
)

const (
	before = "the version before\n"
	after  = "the new version\n"
	theirs = "somebody else's version\n"
)

// A test process promotes a file and kills itself at a step, if requested by the environment.
func TestMain(m *testing.M) {
	if path := os.Getenv("SIA_TEST_PROMOTE"); path != "" {
		promoteAndDie(path, os.Getenv("SIA_TEST_DIE_AT"))
	}
	os.Exit(m.Run())
}

func promoteAndDie(path, at string) {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	s, err := place.Find(path)
	must(err)
	p, err := place.Open(s.Root, time.Now)
	must(err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	i, err := p.Begin(ctx, s.Name)
	must(err)
	i.OnStep(func(step string) {
		if step == at {
			if beside := os.Getenv("SIA_TEST_BESIDE"); beside != "" {
				must(os.WriteFile(filepath.Join(filepath.Dir(path), ".file.txt.sia-"+i.Name), []byte(beside), 0o600))
			}
			must(syscall.Kill(os.Getpid(), syscall.SIGKILL))
		}
	})
	_, err = i.Promote(s, improve.File{Text: after})
	must(err)
	os.Exit(0)
}

// After a kill at each step, the file is the complete previous or new version, and the next run reports which and
// removes temporary files.
func TestKilledAtEachStep(t *testing.T) {
	for _, isNew := range []bool{false, true} {
		for _, step := range place.Steps() {
			if isNew && step == "checked" {
				continue // nothing to compare
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "file.txt")
			if !isNew {
				write(t, path, before)
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), "SIA_TEST_PROMOTE="+path, "SIA_TEST_DIE_AT="+step)
			if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
				t.Fatalf("%s: it was not killed: %v\n%s", step, err, out)
			}
			swapped := slices.Index(place.Steps(), step) >= slices.Index(place.Steps(), "swapped")
			want := before
			if swapped {
				want = after
			}
			if got, err := os.ReadFile(path); !(isNew && !swapped && errors.Is(err, os.ErrNotExist)) && string(got) != want {
				t.Errorf("new %v, %s: the file is %q, %v", isNew, step, got, err)
			}
			p := open(t, dir)
			found, err := p.Tidy()
			says := "the file is as it was"
			if swapped {
				says = "the new version is in place"
			}
			if err != nil || len(found) != 1 || !strings.Contains(found[0], says) {
				t.Errorf("new %v, %s: %q %v", isNew, step, found, err)
			}
			if found, err := p.Tidy(); err != nil || len(found) > 0 {
				t.Errorf("tidied up twice: %q %v", found, err)
			}
			if names := entries(t, dir); len(names) > 2 {
				t.Errorf("new %v, %s: beside the file: %q", isNew, step, names)
			}
			if past, err := p.History(); err != nil || len(past) != 1 || past[0].Outcome != improve.Failed {
				t.Errorf("history: %+v %v", past, err)
			}
			for _, c := range []struct{ folder, want string }{{"kept", after}, {"fallback", before}} {
				at, _ := filepath.Glob(filepath.Join(dir, ".sia/improve/*", c.folder, "file.txt"))
				if isNew && c.folder == "fallback" {
					continue
				}
				if len(at) != 1 || read(t, at[0]) != c.want {
					t.Errorf("%s: %q", c.folder, at)
				}
			}
		}
	}
}

// A user's change of the file during the promotion is kept, at every step.
func TestChangedMeanwhile(t *testing.T) {
	for _, isNew := range []bool{false, true} {
		for _, step := range []string{"before", "recorded", "written"} {
			dir := t.TempDir()
			path := filepath.Join(dir, "file.txt")
			if !isNew {
				write(t, path, before)
			}
			s, i := begin(t, path)
			i.OnStep(func(at string) {
				if at == step {
					write(t, path+".theirs", theirs)
					if err := os.Rename(path+".theirs", path); err != nil {
						t.Error(err)
					}
				}
			})
			if step == "before" {
				write(t, path, theirs)
			}
			p, err := i.Promote(s, improve.File{Text: after})
			if !errors.Is(err, place.ErrChanged) || p.Promoted || read(t, path) != theirs {
				t.Errorf("new %v, %s: %+v, %v; the file is %q", isNew, step, p, err, read(t, path))
			}
			if read(t, p.Kept) != after || len(entries(t, dir)) != 2 {
				t.Errorf("new %v, %s: kept %q, beside the file %q", isNew, step, p.Kept, entries(t, dir))
			}
		}
	}
}

// A version written between the last check and the exchange is restored.
func TestChangedAtTheLastMoment(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file.txt")
	write(t, path, before)
	s, i := begin(t, path)
	i.OnStep(func(at string) {
		if at == "swapped" { // as if it had been there at the exchange
			write(t, filepath.Join(dir, "."+"file.txt.sia-"+i.Name), theirs)
		}
	})
	if _, err := i.Promote(s, improve.File{Text: after}); !errors.Is(err, place.ErrChanged) || read(t, path) != theirs {
		t.Errorf("%v; the file is %q", err, read(t, path))
	}
	if names := entries(t, dir); len(names) != 2 {
		t.Errorf("beside the file: %q", names)
	}
}

// After a kill right after a user's version was displaced, the next run restores it; an incomplete file is moved aside.
func TestTidiesWhatLiesBeside(t *testing.T) {
	for _, c := range []struct{ step, beside, want, aside string }{
		{"swapped", theirs, theirs, ""},
		{"recorded", after[:5], before, after[:5]},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "file.txt")
		write(t, path, before)
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "SIA_TEST_PROMOTE="+path, "SIA_TEST_DIE_AT="+c.step, "SIA_TEST_BESIDE="+c.beside)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%s: it was not killed: %v\n%s", c.step, err, out)
		}
		found, err := open(t, dir).Tidy()
		if err != nil || len(found) != 1 || read(t, path) != c.want || len(entries(t, dir)) != 2 {
			t.Errorf("%s: %q %v; the file is %q beside %q", c.step, found, err, read(t, path), entries(t, dir))
		}
		aside, _ := filepath.Glob(filepath.Join(dir, ".sia/improve/*/beside"))
		if (len(aside) == 1) != (c.aside != "") || len(aside) == 1 && read(t, aside[0]) != c.aside {
			t.Errorf("%s: put aside %q", c.step, aside)
		}
	}
}

// Only one process can use a place, and a record that names somebody else's file removes nothing.
func TestPlaceIsHeldAndBelievesNoRecord(t *testing.T) {
	dir := t.TempDir()
	p := open(t, dir)
	if _, err := place.Open(dir, time.Now); err == nil || !strings.Contains(err.Error(), "another `sia improve`") {
		t.Errorf("opened twice: %v", err)
	}
	precious := filepath.Join(dir, "precious")
	write(t, precious, theirs)
	forged := filepath.Join(dir, ".sia/improve/20260504T140000Z")
	if err := os.Mkdir(forged, 0o755); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	for _, err := range []error{syscall.Mkfifo(pipe, 0o644), os.Symlink(outside, filepath.Join(dir, "sub"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	beside := func(target string) string {
		return filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".sia-"+filepath.Base(forged))
	}
	for _, c := range []struct{ target, temp, says string }{
		{"/tmp/x", precious, "is not its own"},
		{"/dev/zero", beside("/dev/zero"), "is not its own"},
		{filepath.Join(dir, "sub/x"), beside(filepath.Join(dir, "sub/x")), "is not its own"},
		{pipe, beside(pipe), "no ordinary file"},
	} {
		write(t, filepath.Join(forged, "iteration.json"),
			`{"phase": "promoting", "target": "`+c.target+`", "temp": "`+c.temp+`"}`)
		if _, err := p.Tidy(); err == nil || !strings.Contains(err.Error(), c.says) || read(t, precious) != theirs {
			t.Errorf("%s: %v", c.target, err)
		}
	}
	write(t, filepath.Join(forged, "iteration.json"), `{"phase": "promo`)
	if found, err := p.Tidy(); err != nil || len(found) != 1 || !strings.Contains(found[0], "can't be read") {
		t.Errorf("%q %v", found, err)
	}
}

// A repository can't contain a place that leads outside of it.
func TestPlaceThatLeadsOut(t *testing.T) {
	for _, link := range []string{".sia", ".sia/improve", ".sia/improve/history.jsonl", ".sia/improve/lock"} {
		dir, outside := t.TempDir(), t.TempDir()
		write(t, filepath.Join(outside, "file"), theirs)
		to := outside
		if strings.HasPrefix(link, ".sia/improve/") {
			to = filepath.Join(outside, "file")
		}
		at := filepath.Join(dir, link)
		for _, err := range []error{os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(to, at)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := place.Open(dir, time.Now); err == nil || !strings.Contains(err.Error(), at) {
			t.Errorf("%s: %v", link, err)
		}
		if names := entries(t, outside); len(names) != 1 || read(t, filepath.Join(outside, "file")) != theirs {
			t.Errorf("%s: outside there are %q", link, names)
		}
	}
}

// The copy contains the project except .git and what can't be read; a link that leads outside is not followed.
func TestCopy(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{".git", "sub/.git", ".sia/techniques"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, d, "x"), before)
	}
	write(t, filepath.Join(dir, "run.sh"), before)
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, outside, theirs)
	for _, err := range []error{os.Chmod(filepath.Join(dir, "run.sh"), 0o755),
		os.Symlink(outside, filepath.Join(dir, "out")), syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, i := begin(t, filepath.Join(dir, "run.sh"))
	if got := strings.Join(entries(t, i.Copy), " "); got != ".sia out run.sh sub" {
		t.Errorf("copied: %s", got)
	}
	if info, err := os.Stat(filepath.Join(i.Copy, "run.sh")); err != nil || info.Mode() != 0o755 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if _, err := i.Files().Read("out"); err == nil {
		t.Error("a link that leads out was followed")
	}
	if err := i.Files().Write("out", improve.File{Text: after}); err != nil || read(t, outside) != theirs {
		t.Errorf("written through a link: %v", err)
	}
	if err := i.Files().Write("../out", improve.File{Text: after}); err == nil {
		t.Error("written outside of the copy")
	}
	if err := i.End(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(entries(t, i.Dir), " "); got != "iteration.json" {
		t.Errorf("left: %s", got)
	}
}

func TestModeAndLinks(t *testing.T) {
	dir := t.TempDir()
	path, link, hard := filepath.Join(dir, "run.sh"), filepath.Join(dir, "link"), filepath.Join(dir, "hard")
	write(t, path, before)
	for _, err := range []error{os.Chmod(path, 0o751), os.Symlink("run.sh", link), os.Link(path, hard)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s, i := begin(t, link)
	p, err := i.Promote(s, improve.File{Text: after})
	if err != nil || read(t, path) != after || read(t, hard) != before {
		t.Fatalf("%+v %v", p, err)
	}
	said := strings.Join(p.Notes, "\n")
	if !strings.Contains(said, "2 names") || !strings.Contains(said, "the path is a link") {
		t.Errorf("notes: %s", said)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != 0o751 {
		t.Errorf("mode: %v %v", info.Mode(), err)
	}
	if to, err := os.Readlink(link); err != nil || to != "run.sh" {
		t.Errorf("the link is %q, %v", to, err)
	}
}

// A failed promotion leaves the file unchanged.
func TestPromotionFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "file.txt")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, path, before)
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	s, i := begin(t, path)
	// The name of the temporary file is taken.
	blocked := filepath.Join(dir, "sub", ".file.txt.sia-"+i.Name)
	if err := os.Mkdir(blocked, 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := i.Promote(s, improve.File{Text: after})
	if err == nil || p.Promoted || p.Why == "" || read(t, path) != before || read(t, p.Kept) != after {
		t.Errorf("%+v %v", p, err)
	}
	if _, err := os.Lstat(blocked); err != nil {
		t.Errorf("what is not ours was removed: %v", err)
	}
}

func begin(t *testing.T, path string) (place.Subject, *place.Iteration) {
	t.Helper()
	s, err := place.Find(path)
	if err != nil {
		t.Fatal(err)
	}
	i, err := open(t, s.Root).Begin(t.Context(), s.Name)
	if err != nil {
		t.Fatal(err)
	}
	return s, i
}

func open(t *testing.T, root string) *place.Place {
	t.Helper()
	p, err := place.Open(root, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		names = append(names, d.Name())
	}
	return names
}
