package main

import (
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/cmd/internal/localgit"
)

// BenchmarkWeakened plants weakenings in small repositories and counts those that `sia tamper --tests` asks somebody
// about. Each archive of testdata/weaken is a repository below base, and next to it an edit for each weakening. The
// edit bug breaks the tested code. With a weakening, the repository's own command, the archive's first line, must pass
// in spite of the bug; otherwise it is not a weakening.
//
// An edit is a file's path and, below it, lines that are replaced, after "-", by those after "+"; without "-" they are
// inserted at the beginning of the file, which may be new. A path may be followed by "deleted", or by "to" and another.
//
// WEAKENED=name selects an archive, or name/edit. DEPS is a folder with dependencies of the runners that the machine
// lacks: node_modules as jest, mocha and vitest, a local Maven repository as maven, and cargo, where Cargo builds. The
// benchmark takes minutes, so no test runs it.
//
// Debian has the packages for the local Maven repository: libsurefire-java, junit5, libmaven-compiler-plugin-java and
// libmaven-resources-plugin-java, 40 MB packed; afterwards cp -rL /usr/share/maven-repo "$DEPS/maven".
func BenchmarkWeakened(b *testing.B) {
	names, err := filepath.Glob("testdata/weaken/*.txtar")
	if err != nil || len(names) == 0 {
		b.Fatal(names, err)
	}
	archive, edit, _ := strings.Cut(os.Getenv("WEAKENED"), "/")
	e := newWeakenEnv(b)
	for _, name := range names {
		kind := strings.TrimSuffix(filepath.Base(name), ".txtar")
		if archive != "" && archive != kind {
			continue
		}
		b.Run(kind, func(b *testing.B) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				e.weaken(b, a, edit)
			}
		})
	}
}

type weakenEnv struct {
	*cli.Env
	looker *evidence.Looker
	dir    string // folder for fetched packages
}

func newWeakenEnv(b *testing.B) weakenEnv {
	b.Helper()
	b.Setenv("PATH", "/usr/bin:"+os.Getenv("PATH")) // Debian's Python sees Debian's packages
	e := &cli.Env{Ctx: b.Context(), Out: b.Output(), Err: b.Output(), Logger: silentLogger()}
	dir := b.TempDir()
	looker, err := (&tamperCmd{Tests: dir}).looker(e)
	if err != nil {
		b.Fatal(err)
	}
	return weakenEnv{e, looker, dir}
}

// fetched lays out a local Maven repository as if it had been fetched for a repository.
func (e weakenEnv) fetched(b *testing.B, repo string) {
	b.Helper()
	from := filepath.Join(os.Getenv("DEPS"), "maven")
	if _, err := os.Stat(from); err != nil {
		return
	}
	to := filepath.Join(e.dir, url.PathEscape(strings.ToLower(repo)), "deps", "java", "maven")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		b.Fatal(err)
	}
}

// weaken plants the edits of an archive, one at a time.
func (e weakenEnv) weaken(b *testing.B, a *txtar.Archive, only string) {
	b.Helper()
	own, _, _ := strings.Cut(string(a.Comment), "\n")
	base, edits := map[string]string{}, map[string]string{}
	var order []string
	for _, f := range a.Files {
		if p, ok := strings.CutPrefix(f.Name, "base/"); ok {
			base[p] = string(f.Data)
		} else {
			edits[f.Name] = string(f.Data)
			order = append(order, f.Name)
		}
	}
	repo := weakenRepo{b, b.TempDir()}
	repo.git("init", "--quiet", "--initial-branch=main")
	repo.set(base)
	begin := repo.commit()
	total, byRuns, byText := 0, 0, 0
	if _, ok := base["pom.xml"]; ok {
		e.fetched(b, repo.dir)
	}
	for _, kind := range order {
		if kind == "bug" || only != "" && kind != only {
			continue
		}
		head := maps.Clone(base)
		repo.edit(head, edits["bug"])
		repo.edit(head, edits[kind])
		repo.set(head)
		if out, err := repo.runs(own); err != nil {
			b.Errorf("%s is no weakening, since %s fails: %v\n%s", kind, own, err, out)
			continue
		}
		c := &tamperCmd{Repo: repo.dir}
		commits := [2]string{begin, repo.commit()}
		text, err := c.report(e.Env, localgit.At(repo.dir), nil, commits)
		if err != nil {
			b.Fatal(err)
		}
		rep, err := c.report(e.Env, localgit.At(repo.dir), e.looker, commits)
		if err != nil {
			b.Fatal(err)
		}
		total++
		if text.Asks != "nobody" {
			byText++
		}
		how := "text"
		switch {
		case len(rep.Firm) > 0:
			how = "runs, firm"
		case len(rep.Broken) > 0:
			how = "runs, broken"
		}
		if how != "text" {
			byRuns++
		}
		b.Logf("%-24s %-10s %-12s text alone: %-10s %s", kind, rep.Asks, how, text.Asks, rep.Evidence.NotRun)
		if rep.Asks == "nobody" {
			b.Errorf("%s passes unasked: %+v", kind, *rep.Evidence)
		}
	}
	b.ReportMetric(float64(byRuns), "by-runs")
	b.ReportMetric(float64(byText), "by-text")
	b.ReportMetric(float64(total), "planted")
}

// weakenRepo is a repository that weakenings are planted in.
type weakenRepo struct {
	b   *testing.B
	dir string
}

func (r weakenRepo) git(args ...string) string {
	r.b.Helper()
	cmd := exec.CommandContext(r.b.Context(), "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=ada",
		"GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.b.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r weakenRepo) commit() string {
	r.b.Helper()
	r.git("add", "--all", "--force")
	r.git("commit", "--quiet", "--allow-empty", "--message", "change")
	return r.git("rev-parse", "HEAD")
}

// set replaces the repository's files by these.
func (r weakenRepo) set(files map[string]string) {
	r.b.Helper()
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		r.b.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != ".git" {
			if err := os.RemoveAll(filepath.Join(r.dir, e.Name())); err != nil {
				r.b.Fatal(err)
			}
		}
	}
	for p, text := range files {
		p = filepath.Join(r.dir, p)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			r.b.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			r.b.Fatal(err)
		}
	}
}

// runs runs the repository's own command on a copy, as its CI would.
func (r weakenRepo) runs(own string) (string, error) {
	r.b.Helper()
	dir := r.b.TempDir()
	cmd := exec.CommandContext(r.b.Context(), "sh", "-c", `cp -r "$1/." . && rm -rf .git && `+own, "sh", r.dir)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CI=true", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// edit applies an edit to files.
func (r weakenRepo) edit(files map[string]string, edit string) {
	r.b.Helper()
	var at string
	var was, is []string
	apply := func() {
		old, now := strings.Join(was, "\n"), strings.Join(is, "\n")
		switch text := files[at]; {
		case len(was)+len(is) == 0:
		case len(was) == 0:
			files[at] = now + "\n" + text
		case strings.Count(text, old) != 1:
			r.b.Fatalf("%s does not have once:\n%s", at, old)
		default:
			files[at] = strings.Replace(text, old, now, 1)
		}
		was, is = nil, nil
	}
	for _, line := range strings.Split(strings.TrimRight(edit, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "-"):
			if len(is) > 0 {
				apply()
			}
			was = append(was, line[1:])
		case strings.HasPrefix(line, "+"):
			is = append(is, line[1:])
		default:
			apply()
			p, what, _ := strings.Cut(line, " ")
			at = p
			if to, renamed := strings.CutPrefix(what, "to "); renamed {
				at = to
				files[to] = files[p]
			}
			if what != "" {
				delete(files, p)
			}
		}
	}
	apply()
}
