package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
)

// ran runs a command and returns its output and exit code.
func ran(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = runCommand(t.Context(), args, &out, &errs)
	return out.String(), errs.String(), code
}

// does runs a command that must succeed.
func does(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, code := ran(t, args...)
	if code != cli.ExitDone {
		t.Fatalf("sia %q: exit %d: %s", args, code, errs)
	}
	return out
}

// refuses runs a command that must fail with an error that contains some words.
func refuses(t *testing.T, why string, args ...string) {
	t.Helper()
	if out, errs, code := ran(t, args...); code != cli.ExitFailed || !strings.Contains(errs, why) || out != "" {
		t.Errorf("sia %q: exit %d, %q %q; want %q", args, code, out, errs, why)
	}
}

// Ids of repositories.
const (
	shares = 904110001
	silent = 904110002
)

// aServer makes a folder with a server's database: one repository that shares, one that does not, and tasks of both.
// tool-change resolves two in five.
func aServer(t *testing.T, tasks int) string {
	t.Helper()
	dir := t.TempDir()
	s := storetest.Open(t, store.Config{URL: filepath.Join(dir, "sia.db")})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	defer func() { must(s.Close()) }()
	must(s.UpsertInstallation(t.Context(), store.Installation{ID: 1, Account: "acme"}))
	for id, share := range map[int64]string{shares: "aggregate", silent: "none"} {
		repo := sia.Repo{ID: id, Owner: "acme", Name: "secret-project"}
		must(s.UpsertRepository(t.Context(), store.Repository{Repo: repo, Installation: 1}))
		set := sia.DefaultSettings()
		set.Learning.Share = share
		must(s.SaveSettings(t.Context(), id, store.OwnSettings{Settings: &set, SHA: "abc"}))
		for i := range tasks {
			record(t, s, repo, i)
		}
	}
	return dir
}

// record records the result of a task.
func record(t *testing.T, s *store.Store, repo sia.Repo, issue int) {
	t.Helper()
	o := store.Outcome{Task: sia.NewTaskID(repo.ID, issue), Intervention: 1, Repo: repo, Pattern: sia.WrongTool,
		Technique: sia.ToolChange, Resolved: issue%5 < 2, At: time.Unix(1, 0)}
	if _, err := s.RecordOutcome(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	c := store.CoderOutcome{Task: o.Task, Attempt: 1, Repo: repo.ID, Org: repo.Owner, Kind: "bug", Coder: "acme-insider",
		Agent: "builtin/openai/gpt-5-mini", Resolved: issue%5 < 2, At: time.Unix(1, 0)}
	if err := s.RecordCoderOutcome(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// proxied makes a Go module that contains a file, in a folder that serves as a module proxy.
func proxied(t *testing.T, path, version, name string, content []byte) (proxy string) {
	t.Helper()
	dir := t.TempDir()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for file, text := range map[string][]byte{"go.mod": []byte("module " + path + "\n"), name: content} {
		w, err := z.Create(path + "@" + version + "/" + file)
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	for ending, text := range map[string][]byte{
		".zip": b.Bytes(), ".mod": []byte("module " + path + "\n"), ".info": fmt.Appendf(nil, `{"Version":%q}`, version),
	} {
		if err := os.WriteFile(filepath.Join(at, version+ending), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return "file://" + filepath.ToSlash(dir)
}

// Twelve servers export, their reports are aggregated, and a thirteenth imports the result from a file and from a Go
// module, all without a network.
func TestPriorsFromMany(t *testing.T) {
	collection, out := t.TempDir(), filepath.Join(t.TempDir(), "priors.txt")
	var files []string
	for i, server := 0, aServer(t, 60); i < 12; i++ {
		dir, file := t.TempDir(), filepath.Join(collection, fmt.Sprint(i))
		if err := os.CopyFS(dir, os.DirFS(server)); err != nil {
			t.Fatal(err)
		}
		said := does(t, "priors", "export", "--dir", dir, "--out", file)
		if i == 0 {
			oneExport(t, dir, file, said)
		}
		files = append(files, file)
	}
	runner := t.TempDir()
	args := append([]string{"priors", "aggregate", "--dir", runner, "--out", out, "--output", "json"}, files...)
	var made aggregated
	if err := json.Unmarshal([]byte(does(t, args...)), &made); err != nil {
		t.Fatal(err)
	}
	if made.Installations != 12 || made.Reports != 12 || made.Cells == 0 || !strings.HasPrefix(made.Key, "sia-") {
		t.Errorf("%+v", made)
	}
	refusedCollections(t, runner, files, made.Key)

	dir := aServer(t, 0)
	refuses(t, "no key is trusted yet", "priors", "import", "--dir", dir, out)
	refuses(t, "nothing is imported", "priors", "show", "--dir", dir)
	refuses(t, "nothing is imported", "priors", "remove", "--dir", dir)
	stranger := does(t, "priors", "export", "--dir", aServer(t, 1), "--out", filepath.Join(t.TempDir(), "x"),
		"--output", "json")
	var theirs exported
	if err := json.Unmarshal([]byte(stranger), &theirs); err != nil {
		t.Fatal(err)
	}
	refuses(t, "no trusted key has signed it", "priors", "import", "--dir", dir, "--key", theirs.Key, out)
	refuses(t, "is no public key", "priors", "import", "--dir", dir, "--key", "x", out)
	list := filepath.Join(dir, trustedFile)
	if err := os.WriteFile(list, []byte("# who collects\n"+made.Key+" # me\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := does(t, "priors", "import", "--dir", dir, out); !strings.Contains(said, "imported, as 1: ") {
		t.Error(said)
	}

	signed, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", proxied(t, "example.com/priors", "v1.0.0", moduleFile, signed))
	t.Setenv("GONOSUMDB", "example.com")
	t.Setenv("GOPRIVATE", "")
	t.Setenv("GONOPROXY", "")
	refuses(t, "a module at an exact version", "priors", "import", "--dir", dir, "example.com/priors@latest")
	refuses(t, "v1.0.1.info: no such file", "priors", "import", "--dir", dir, "example.com/priors@v1.0.1")
	does(t, "priors", "import", "--dir", dir, "example.com/priors@v1.0.0")
	var shown shownImport
	if err := json.Unmarshal([]byte(does(t, "priors", "show", "--dir", dir, "--output", "json")), &shown); err != nil {
		t.Fatal(err)
	}
	if shown.Import != 2 || shown.Source != "example.com/priors@v1.0.0" || shown.Key != made.Key ||
		shown.Cells != made.Cells || shown.Worth == nil || shown.Worth.Known() {
		t.Errorf("%+v", shown)
	}
	if said := does(t, "priors", "show", "--dir", dir); !strings.Contains(said, "its benefit is not known yet") {
		t.Error(said)
	}
	does(t, "priors", "remove", "--dir", dir)
	refuses(t, "nothing is imported", "priors", "show", "--dir", dir)
	t.Setenv("PATH", t.TempDir())
	refuses(t, "needs the go command", "priors", "import", "--dir", dir, "example.com/priors@v1.0.0")
}

// oneExport checks the guarantees of an export.
func oneExport(t *testing.T, dir, file, said string) {
	t.Helper()
	signed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, never := range []string{"acme", "secret-project", "insider", "9041", dir} {
		if bytes.Contains(signed, []byte(never)) {
			t.Errorf("%q left", never)
		}
	}
	key, err := os.ReadFile(filepath.Join(dir, keyFile))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, keyFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's mode is %v, %v", info.Mode(), err)
	}
	if strings.Contains(said, strings.TrimSpace(string(key))) || bytes.Contains(signed, bytes.TrimSpace(key)) {
		t.Error("the private key left")
	}
	lines := strings.Split(said, "\n")
	if !slices.ContainsFunc(lines,
		func(l string) bool { return strings.HasPrefix(l, "sia-") && bytes.Contains(signed, []byte(l)) }) {
		t.Errorf("the public key is not printed:\n%s", said)
	}
	refuses(t, "nothing new is to be shared", "priors", "export", "--dir", dir, "--out", file+".2")
	if _, err := os.Stat(file + ".2"); err == nil {
		t.Error("a file was written nevertheless")
	}
	refuses(t, "there is no file or folder", "priors", "export", "--dir", dir, "--out", filepath.Join(dir, "none", "x"))
	does(t, "priors", "export", "--dir", dir, "--again", "--out", file+".again")
	if again, err := os.ReadFile(file + ".again"); err != nil || !bytes.Equal(again, signed) {
		t.Errorf("written again it is another report: %v", err)
	}
	draft, told, code := ran(t, "priors", "export", "--dir", dir)
	if code != cli.ExitDone || !strings.Contains(draft, `"format": "sia-counts/1"`) || strings.Contains(draft, "\n— ") ||
		!strings.Contains(told, "the first technique of 0 tasks") {
		t.Errorf("exit %d, %s", code, told)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".sia-new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if err := os.Chmod(filepath.Join(dir, keyFile), 0o644); err != nil {
		t.Fatal(err)
	}
	refuses(t, "others can read the key", "priors", "export", "--dir", dir, "--out", file+".3")
}

// refusedCollections checks collections that are refused.
func refusedCollections(t *testing.T, runner string, files []string, key string) {
	t.Helper()
	aggregate := func(more ...string) []string {
		return append([]string{"priors", "aggregate", "--dir", runner, "--out", filepath.Join(runner, "never")}, more...)
	}
	refuses(t, "two reports are of", aggregate(append(files, files[0])...)...)
	refuses(t, "reports of 9 installations", aggregate(files[:9]...)...)
	bad := filepath.Join(t.TempDir(), "edited")
	b, err := os.ReadFile(files[3])
	if err != nil {
		t.Fatal(err)
	}
	write := func(b []byte) {
		if err := os.WriteFile(bad, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(bytes.Replace(b, []byte(`"period": 1`), []byte(`"period": 2`), 1))
	refuses(t, "edited: read a report", aggregate(append(files, bad)...)...)
	write(bytes.Repeat([]byte("9"), 5<<20))
	refuses(t, "more than 2 MiB", aggregate(append(files, bad)...)...)
	refuses(t, "more than 2 MiB", aggregate("/dev/zero")...)
	list := filepath.Join(t.TempDir(), "members")
	if err := os.WriteFile(list, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, "which is not in", append(aggregate(files...), "--members", list)...)
	if _, err := os.Stat(filepath.Join(runner, "never")); err == nil {
		t.Error("a file was written nevertheless")
	}
}

// A server that is killed before the file is written still has the report, and counts nothing twice.
func TestExportIsInterrupted(t *testing.T) {
	dir := aServer(t, 3)
	out := filepath.Join(t.TempDir(), "taken")
	if err := os.MkdirAll(filepath.Join(out, "folder"), 0o755); err != nil { // a folder that can't be replaced
		t.Fatal(err)
	}
	refuses(t, "sia priors export --again --out FILE", "priors", "export", "--dir", dir, "--out", out)
	does(t, "priors", "export", "--dir", dir, "--again", "--out", out+".2")
	refuses(t, "nothing new is to be shared", "priors", "export", "--dir", dir, "--out", out+".3")
	s := storetest.Open(t, store.Config{URL: filepath.Join(dir, "sia.db")})
	record(t, s, sia.Repo{ID: shares, Owner: "acme", Name: "secret-project"}, 77)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if said := does(t, "priors", "export", "--dir", dir, "--out", out+".3"); !strings.Contains(said, "for period 2") {
		t.Error(said)
	}
	refuses(t, "nothing was exported yet", "priors", "export", "--dir", aServer(t, 1), "--again", "--out", out+".4")
	if _, _, code := ran(t, "priors", "export", "--dir", dir, "--again"); code != cli.ExitUsage {
		t.Errorf("--again without --out: exit %d", code)
	}
}
