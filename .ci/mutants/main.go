// Command mutants removes each defence that SECURITY.md claims, one at a time, and runs the tests that the claim
// names: they must fail. A test that still passes proves nothing.
//
//	go run ./.ci/mutants [-list] [-run REGEXP] [-v]
//
// The mutants are in defences.txtar. The tree is not changed: `go test -overlay` replaces the file for the compiler.
// First the tests run without any mutant, and must pass. Then a mutant is
//
//   - caught, if each of its tests fails;
//   - SURVIVED, if one of them passes;
//   - BROKEN, if it proves nothing: it does not compile, panics, or hangs although its defence is not a time limit.
//
// The exit code is 0 only if all were caught.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// patience is the time limit for the tests of a mutant without "within".
const patience = 10 * time.Minute

func main() {
	list := flag.Bool("list", false, "list the mutants and run nothing")
	verbose := flag.Bool("v", false, "show what the tests print as they fail")
	pattern := flag.String("run", "", "only the mutants with a name, a file or a test that `REGEXP` matches")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code, err := run(ctx, ".", os.Stdout, *list, *verbose, *pattern)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
	}
	os.Exit(code)
}

// run runs the mutants of the module in dir, and returns the exit code.
func run(ctx context.Context, dir string, out io.Writer, list, verbose bool, pattern string) (int, error) {
	selected, err := regexp.Compile(pattern)
	if err != nil {
		return 2, err
	}
	all, err := read(filepath.Join(dir, ".ci", "mutants", "defences.txtar"))
	if err != nil {
		return 2, err
	}
	all = slices.DeleteFunc(all, func(m mutant) bool { return !selected.MatchString(m.String()) })
	if list {
		for _, m := range all {
			fmt.Fprintln(out, m)
		}
		return 0, nil
	}
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 2, err
	}
	defer os.RemoveAll(scratch)
	r := runner{dir: dir, scratch: scratch, out: out, verbose: verbose}
	if err := r.unharmed(ctx, all); err != nil {
		return 2, err
	}
	counts := map[verdict]int{}
	for _, m := range all {
		v, err := r.try(ctx, m)
		if err != nil {
			return 2, fmt.Errorf("%s: %w", m.Name, err)
		}
		counts[v]++
	}
	fmt.Fprintf(out, "%d caught, %d survived, %d broken\n", counts[caught], counts[survived], counts[broken])
	if counts[caught] == 0 || counts[survived]+counts[broken] > 0 {
		return 1, nil
	}
	return 0, nil
}

// verdict is the result of a mutant.
type verdict string

const (
	caught   verdict = "caught"
	survived verdict = "SURVIVED"
	broken   verdict = "BROKEN"
)

type runner struct {
	dir     string // of the module
	scratch string // for replacements of files
	out     io.Writer
	verbose bool
}

// unharmed runs the tests of all mutants on the original code: once for each package, and subtests separately,
// since an expression that selects them selects nothing in the others.
func (r *runner) unharmed(ctx context.Context, all []mutant) error {
	var groups []tests // in the order of the mutants
	for _, m := range all {
		for _, t := range m.Tests {
			i := slices.IndexFunc(groups, func(g tests) bool { return g.Package == t.Package && g.depth() == t.depth() })
			if i < 0 {
				groups = append(groups, tests{t.Package, slices.Clone(t.Names)})
			} else {
				groups[i].Names = append(groups[i].Names, t.Names...)
			}
		}
	}
	for _, t := range groups {
		slices.Sort(t.Names)
		t.Names = slices.Compact(t.Names)
		began := time.Now()
		res, err := r.test(ctx, t, 0, "")
		if err != nil {
			return err
		}
		for _, name := range t.Names {
			if !res.passed[name] || res.skipped {
				return fmt.Errorf("%s of %s does not pass without a mutant\n%s", name, t.Package, res.said)
			}
		}
		r.print("ok", began, fmt.Sprintf("%s: %d tests without a mutant", t.Package, len(t.Names)))
	}
	return nil
}

// try runs a mutant's tests with it.
func (r *runner) try(ctx context.Context, m mutant) (verdict, error) {
	began := time.Now()
	overlay, err := r.overlay(m)
	if err != nil {
		return "", err
	}
	v, why, said := caught, "", ""
	for _, t := range m.Tests {
		res, err := r.test(ctx, t, m.Within, overlay)
		if err != nil {
			return "", err
		}
		said += res.said
		if v, why = res.judge(t, m.Within); v != caught {
			break
		}
	}
	r.print(v, began, m.Name+why)
	if v == broken || r.verbose {
		fmt.Fprint(r.out, said)
	}
	return v, nil
}

func (r *runner) print(v verdict, began time.Time, what string) {
	fmt.Fprintf(r.out, "%-8s  %5.1fs  %s\n", v, time.Since(began).Seconds(), what)
}

// overlay writes the file for `go test -overlay` of a mutant, and returns its path.
func (r *runner) overlay(m mutant) (string, error) {
	files, err := m.files(r.dir)
	if err != nil {
		return "", err
	}
	var replaced struct{ Replace map[string]string }
	replaced.Replace = map[string]string{}
	for name, text := range files {
		path, err := filepath.Abs(filepath.Join(r.dir, name))
		if err != nil {
			return "", err
		}
		instead := filepath.Join(r.scratch, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(instead, text, 0o600); err != nil {
			return "", err
		}
		replaced.Replace[path] = instead
	}
	b, err := json.Marshal(replaced)
	if err != nil {
		return "", err
	}
	name := filepath.Join(r.scratch, "overlay.json")
	return name, os.WriteFile(name, b, 0o600)
}

// test runs some tests. within is their time limit, 0 for [patience]. Go caches passed tests, so those without a
// mutant run again only if something changed.
func (r *runner) test(ctx context.Context, t tests, within time.Duration, overlay string) (*result, error) {
	if within == 0 {
		within = patience
	}
	args := []string{"test", "-json", "-vet=off", "-timeout", within.String(), "-run", expression(t.Names)}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+t.Package)...)
	cmd.Dir = r.dir
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	// Property tests save failing inputs there, to try them first the next time. Those of a mutant are not findings.
	kept := filepath.Join(r.dir, filepath.FromSlash(t.Package), "testdata", "rapid")
	_, before := os.Stat(kept)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	res := readResult(pipe)
	_ = cmd.Wait() // the output has the result
	if overlay != "" && errors.Is(before, fs.ErrNotExist) {
		err = os.RemoveAll(kept)
	}
	return res, errors.Join(err, ctx.Err())
}

// expression selects tests of one depth. Go matches each part between slashes separately, so it may also select other
// tests, which are ignored.
func expression(tests []string) string {
	var levels [][]string
	for _, t := range tests {
		for i, part := range strings.Split(t, "/") {
			if i == len(levels) {
				levels = append(levels, nil)
			}
			if part = regexp.QuoteMeta(part); !slices.Contains(levels[i], part) {
				levels[i] = append(levels[i], part)
			}
		}
	}
	var parts []string
	for _, l := range levels {
		parts = append(parts, "^("+strings.Join(l, "|")+")$")
	}
	return strings.Join(parts, "/")
}
