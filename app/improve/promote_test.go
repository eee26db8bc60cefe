//test:plain
package improve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// A test process promotes versions of a file until it is killed, if requested by the environment.
func TestMain(m *testing.M) {
	if path := os.Getenv("SIA_TEST_PROMOTE"); path != "" {
		if err := promoteForever(path); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// promoteForever prints a line for each promotion.
func promoteForever(path string) error {
	s, err := place.Find(path)
	if err != nil {
		return err
	}
	p, err := place.Open(s.Root, time.Now)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	i, err := p.Begin(ctx)
	if err != nil {
		return err
	}
	for next := large(after); ; s.File.Text, next = next, s.File.Text {
		if _, err := i.Promote(s, improve.File{Text: next}); err != nil {
			return err
		}
		fmt.Println("promoted")
	}
}

// large makes a file of a version that takes several writes to a disk.
func large(version string) string { return strings.Repeat(version, 20_000) }

// After a kill in the middle of a promotion, the file is the complete previous or new version, and the next run removes
// the copy. What was saved stays.
func TestKilled(t *testing.T) {
	for n := range 8 {
		dir := t.TempDir()
		path := filepath.Join(dir, "file.txt")
		write(t, path, large(before))
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "SIA_TEST_PROMOTE="+path)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		promoted := bufio.NewScanner(out)
		for range n + 1 {
			if !promoted.Scan() {
				t.Fatalf("it ended: %v", cmd.Wait())
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("it was not killed: %v", err)
		}
		if got := read(t, path); got != large(before) && got != large(after) {
			t.Errorf("neither version: %.80q, %d bytes", got, len(got))
		}
		if err := open(t, dir).Tidy(); err != nil {
			t.Error(err)
		}
		runs, _ := filepath.Glob(filepath.Join(dir, ".sia/improve/2*"))
		if len(runs) != 1 || strings.Join(entries(t, runs[0]), " ") != "fallback kept" {
			t.Errorf("left: %q %q", runs, entries(t, runs[0]))
		}
	}
}

// A run that was killed before it kept anything leaves nothing.
func TestTidy(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file.txt"), before)
	p := open(t, dir)
	i, err := p.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Tidy(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(i.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left: %v", err)
	}
}

// A user's change of the file is kept, whatever it is now.
func TestChangedMeanwhile(t *testing.T) {
	for _, isNew := range []bool{false, true} {
		for now, change := range map[string]func(path string) error{
			"another text": func(path string) error { return os.WriteFile(path, []byte(theirs), 0o644) },
			"a folder":     func(path string) error { return os.Mkdir(path, 0o755) },
			"a pipe":       func(path string) error { return syscall.Mkfifo(path, 0o644) },
			"no text":      func(path string) error { return os.WriteFile(path, []byte{0}, 0o644) },
			"nothing":      func(string) error { return nil },
		} {
			if isNew && now == "nothing" {
				continue
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "file.txt")
			if !isNew {
				write(t, path, before)
			}
			s, i := begin(t, path)
			if err := errors.Join(os.RemoveAll(path), change(path)); err != nil {
				t.Fatal(err)
			}
			there := entries(t, dir)
			p, err := i.Promote(s, improve.File{Text: after})
			if !errors.Is(err, place.ErrChanged) || p.Promoted || p.Why == "" {
				t.Errorf("new %v, %s: %+v, %v", isNew, now, p, err)
			}
			if now == "another text" && read(t, path) != theirs {
				t.Errorf("new %v, %s: the file is %q", isNew, now, read(t, path))
			}
			if got := entries(t, dir); read(t, p.Kept) != after || !slices.Equal(got, there) {
				t.Errorf("new %v, %s: kept %q, in the folder %q, want %q", isNew, now, p.Kept, got, there)
			}
		}
	}
}

// What somebody writes into the file at the moment of its replacement is put back.
func TestChangedAtTheLastMoment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.txt")
	write(t, path, before)
	s, i := begin(t, path)
	_, err := i.Replace(s, after, func(from, to string) error {
		write(t, to, theirs)
		return os.Rename(from, to)
	})
	if !errors.Is(err, place.ErrChanged) || read(t, path) != theirs {
		t.Errorf("%v; the file is %q", err, read(t, path))
	}
	if names := entries(t, s.Root); !slices.Equal(names, []string{".sia", "file.txt"}) {
		t.Errorf("beside the file: %q", names)
	}
}

// A missing file is created with its folders.
func TestNewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "file.txt")
	s, i := begin(t, path)
	p, err := i.Promote(s, improve.File{Text: after})
	if err != nil || !p.Promoted || p.Fallback != "" || read(t, path) != after {
		t.Errorf("%+v %v", p, err)
	}
}

// Only one process can use a place.
func TestPlaceIsHeld(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	if _, err := place.Open(dir, time.Now); err == nil || !strings.Contains(err.Error(), "another `sia improve`") {
		t.Errorf("opened twice: %v", err)
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
	if got := entries(t, i.Dir); len(got) > 0 {
		t.Errorf("left: %s", got)
	}
}

func TestModeAndLinks(t *testing.T) {
	dir := t.TempDir()
	path, link, hard := filepath.Join(dir, "run.sh"), filepath.Join(dir, "link"), filepath.Join(dir, "hard")
	write(t, path, before)
	for _, err := range []error{os.Chmod(path, 0o773), os.Symlink("run.sh", link), os.Link(path, hard)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Lchown(path, 1234, 1235), os.Chmod(path, 0o773)); err != nil {
			t.Fatal(err)
		}
	}
	was := owner(t, path)
	s, i := begin(t, link)
	p, err := i.Promote(s, improve.File{Text: after})
	if err != nil || read(t, path) != after || read(t, hard) != before || owner(t, path) != was {
		t.Fatalf("%+v %v %v, want %v", p, err, owner(t, path), was)
	}
	if said := strings.Join(p.Notes, "\n"); !strings.Contains(said, "the path is a link") ||
		!strings.Contains(said, "2 names (hard links)") {
		t.Errorf("notes: %s", said)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != 0o773 {
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
	write(t, filepath.Join(i.Dir, "fallback"), theirs) // where the folder of the previous version would be
	p, err := i.Promote(s, improve.File{Text: after})
	if err == nil || p.Promoted || p.Why == "" || read(t, path) != before || read(t, p.Kept) != after {
		t.Errorf("%+v %v", p, err)
	}
}

// owner returns the user and the group of a file.
func owner(t *testing.T, path string) [2]uint32 {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		t.Fatal(err)
	}
	return [2]uint32{st.Uid, st.Gid}
}

func begin(t *testing.T, path string) (place.Subject, *place.Iteration) {
	t.Helper()
	s, err := place.Find(path)
	if err != nil {
		t.Fatal(err)
	}
	i, err := open(t, s.Root).Begin(t.Context())
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
