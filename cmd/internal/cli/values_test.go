package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/sia-bot/sia/cmd/internal/cli"
)

// tried is a command with a flag of each kind.
type tried struct {
	Word   string        `help:"Word."`
	Even   string        `help:"Even." type:"even"`
	URL    string        `help:"Address." type:"web"`
	Count  int           `help:"Count." max:"9" min:"-9"`
	Price  float64       `help:"Price." min:"0"`
	Within time.Duration `help:"Time." min:"1s" max:"1h"`
	File   string        `help:"File." type:"path"`
	Fails  string        `help:"How it fails."`
	Name   string        `arg:"" help:"Name."`
}

func (c *tried) Run(e *cli.Env) error {
	switch c.Fails {
	case "usage":
		return fmt.Errorf("try: %w", cli.Usage("--fails %s: that is wrong", c.Fails))
	case "file":
		_, err := os.ReadFile(c.File)
		return err
	}
	e.Logger.Info("tried", "word", "w", "empty", "", "count", 0)
	_, err := fmt.Fprintln(e.Out, c.Word, c.Even, c.URL, c.Count, c.Price, c.Within, c.Name)
	return err
}

func tryOut(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var c struct {
		Try        tried `cmd:"" help:"Try."`
		cli.Global `embed:""`
	}
	p := cli.Program{Name: "x", Commands: &c, Global: &c.Global, Options: []kong.Option{
		cli.Checked("even", func(s string) error {
			if len(s)%2 != 0 {
				return errors.New("it is odd")
			}
			return nil
		})}}
	var out, errs strings.Builder
	code = p.Run(context.Background(), append([]string{"try"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

// The error of a wrong value names the flag, the value and the expected form, and the command exits 2.
func TestWrongValues(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"n --word", "--word: its value is missing"},
		{"n --count", "--count: its value is missing"},
		{"n --count many", `--count: "many" is no whole number`},
		{"n --count=-1 --price x", `--price: "x" is no number`},
		{"n --count -1", `--count: "-1" looks like a flag; if it is the value, write it behind an equals sign`},
		{"n --within soon", `--within: "soon" is no duration; write it such as 90s, 15m or 2h`},
		{"n --count 10", `--count: "10" is out of range; give -9 to 9`},
		{"n --price NaN", `--price: "NaN" is too little; give at least 0`},
		{"n --within 90m", `--within: "90m" is out of range; give 1s to 1h`},
		{"n --even odd", "--even: it is odd"},
		{"n --url ftp://x", `--url: "ftp://x" is no http or https address`},
		{"n --file", "--file: its value is missing"},
		{"--word w", "missing arguments: <name>"},
		{"n --fails usage", "try: --fails usage: that is wrong"},
	} {
		code, _, said := tryOut(t, strings.Fields(c.args)...)
		if want := "x: " + c.want + "\nTry `x try --help`.\n"; code != cli.ExitUsage || said != want {
			t.Errorf("%s: exit %d, %q, want %q", c.args, code, said, want)
		}
	}
	code, out, said := tryOut(t, strings.Fields("n --word=-w --even ab --url http://h --count -0 --within 2m")...)
	if code == cli.ExitDone {
		t.Errorf("a value with a dash is taken: %s%s", out, said)
	}
	code, out, said = tryOut(t, strings.Fields("n --word=-w --even= --url http://h --count=-3 --price 2 --within 2m")...)
	if want := "-w  http://h -3 2 2m0s n\n"; code != cli.ExitDone || out != want {
		t.Errorf("exit %d, %q, want %q: %s", code, out, want, said)
	}
	if code, _, said = tryOut(t, "-"); code != cli.ExitDone {
		t.Errorf("- is no argument: %s", said)
	}
	if !strings.HasSuffix(said, "level=INFO msg=tried word=w count=0\n") {
		t.Errorf("the log has: %s", said)
	}
}

// The system's errors about files become sentences.
func TestWordsOfFiles(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	if code, _, said := tryOut(t, "n", "--fails", "file", "--file", gone); code != cli.ExitFailed ||
		said != "x: there is no file or folder "+gone+"\n" {
		t.Errorf("exit %d: %s", code, said)
	}
	file := func(err error) error { return &fs.PathError{Op: "open", Path: "/f", Err: err} }
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("the key: %w; check it", file(fs.ErrNotExist)), "the key: there is no file or folder /f; check it"},
		{errors.Join(file(syscall.EISDIR), file(syscall.ENOTDIR)),
			"/f is a folder; name a file\n/f can't be used, since it or a part of it is a file and no folder"},
		{file(errors.New("not a directory")), "/f can't be used, since it or a part of it is a file and no folder"},
		{file(fs.ErrPermission), "there is no permission to use /f; check its owner"},
		{file(syscall.ENOSPC), "the disk is full, so /f can't be written; make room"},
		{file(syscall.EROFS), "/f can't be written, since its disk is read-only"},
		{file(syscall.EIO), "open /f: input/output error"},
		{errors.New("plain"), "plain"},
	} {
		if said := cli.ErrorText(c.err); said != c.want {
			t.Errorf("%q, want %q", said, c.want)
		}
	}
}
