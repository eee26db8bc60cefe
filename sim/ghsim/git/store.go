// Package git keeps bare git repositories on disk: it writes commits, trees and refs into them, reads changes, and
// serves them over smart HTTP. It runs the git command, 2.38 or later, without user configuration, except for objects
// that it made itself (object.go) or can read itself (loose.go). It identifies repositories by directory, and knows no
// issues, checks or permissions.
//
// Start reading at [Store].
package git

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Store reads and writes the bare repositories. Commits, trees and files are cached: they don't change. Safe for
// concurrent use.
type Store struct {
	ctx     context.Context
	root    string
	commits cache[Commit]
	diffs   cache[Comparison]
	merged  cache[string] // base and head → tree of their merge; "" when they conflict
	known   objects
	asks    bool          // git is used for everything, for tests that compare
	printed cache[[]byte] // git's output about immutable objects, by directory and arguments
}

// gitTimeout bounds one git command.
const gitTimeout = time.Minute

// Signature is the author of a commit, and the time.
type Signature struct {
	Name, Email string
	At          time.Time
}

// NoSHA is git's name of a missing ref.
const NoSHA = "0000000000000000000000000000000000000000"

// New is a store of the repositories below root, which is created if needed. Its git commands end with ctx.
func New(ctx context.Context, root string) (*Store, error) {
	g := &Store{ctx: ctx, root: root}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("simulator directory: %w", err)
	}
	if _, err := exec.LookPath("git"); err != nil {
		return nil, fmt.Errorf("looking for git, which the simulator needs: %w", err)
	}
	return g, nil
}

// Path is the directory of a repository.
func (g *Store) Path(id int64) string {
	return filepath.Join(g.root, strconv.FormatInt(id, 10)+".git")
}

// env is the environment of every git command: without user configuration.
func (g *Store) env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.root, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_TERMINAL_PROMPT=0", "LC_ALL=C.UTF-8", "TZ=UTC"}
}

// Run runs git in a directory and returns its standard output.
func (g *Store) run(dir string, env []string, stdin []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(g.ctx, gitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, append(g.env(), env...)
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(errs.String()))
	}
	return out.Bytes(), nil
}

// about is git's output about objects. It is cached if they are all named by a full SHA, as they don't change then. The
// caller must not change the result.
func (g *Store) about(dir string, objects []string, args ...string) ([]byte, error) {
	if slices.ContainsFunc(objects, func(name string) bool { return !wholeSHA.MatchString(name) }) {
		return g.run(dir, nil, nil, args...)
	}
	key := dir + "\x00" + strings.Join(args, "\x00")
	out, ok := g.printed.get(key)
	if ok {
		return out, nil
	}
	out, err := g.run(dir, nil, nil, args...)
	if err == nil {
		g.printed.put(key, out)
	}
	return out, err
}

var wholeSHA = regexp.MustCompile(`^[0-9a-f]{40}$`)

func (g *Store) line(dir string, args ...string) (string, error) {
	out, err := g.run(dir, nil, nil, args...)
	return strings.TrimSpace(string(out)), err
}

// Deleted as a file's content deletes the file.
const Deleted = "\x00deleted"

// Spec describes a new repository.
type Spec struct {
	Files         map[string]string // path → content; names ending in .sh are executable
	From          string            // instead of Files: a local git repository; its branches are copied
	DefaultBranch string            // default main, or what From has checked out
	Message       string            // of the first commit; default "Initial commit"
}

// Create makes a bare repository and returns its default branch.
func (g *Store) Create(id int64, spec Spec, by Signature) (string, error) {
	dir := g.Path(id)
	branch := spec.DefaultBranch
	if spec.From != "" {
		if branch == "" {
			var err error
			if branch, err = g.line(spec.From, "symbolic-ref", "--short", "HEAD"); err != nil {
				return "", fmt.Errorf("%s: its default branch: %w", spec.From, err)
			}
		}
		from, err := filepath.Abs(spec.From)
		if err != nil {
			return "", err
		}
		if _, err := g.run(g.root, nil, nil, "clone", "--quiet", "--bare", "--no-hardlinks", "file://"+from,
			dir); err != nil {
			return "", err
		}
	}
	branch = cmp.Or(branch, "main")
	if spec.From == "" {
		for _, folder := range []string{"objects", "refs/heads"} { // git requires these in a repository
			if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
				return "", err
			}
		}
	}
	if err := g.configure(dir, branch); err != nil {
		return "", err
	}
	if spec.From != "" || spec.Files == nil {
		return branch, nil
	}
	sha, err := g.CommitFiles(dir, nil, spec.Files, cmp.Or(spec.Message, "Initial commit"), by)
	if err != nil {
		return "", err
	}
	return branch, g.SetRef(dir, "refs/heads/"+branch, sha, "")
}

func (g *Store) configure(dir, branch string) error {
	config := "[http]\n\treceivepack = true\n[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n" +
		"[receive]\n\tdenyDeleteCurrent = refuse\n\tautogc = false\n[gc]\n\tauto = 0\n" +
		"[core]\n\tbare = true\n\trepositoryformatversion = 0\n\tfilemode = true\n"
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o644); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "hooks"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "hooks", "pre-receive"), []byte(preReceive), 0o755); err != nil {
		return err
	}
	return g.SetHEAD(dir, branch)
}

// SetHEAD sets a repository's default branch.
func (g *Store) SetHEAD(dir, branch string) error {
	return os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/"+branch+"\n"), 0o644)
}

// Refs are all branches and tags.
func (g *Store) Refs(dir string) (map[string]string, error) {
	if refs, ok := g.refsHere(dir); ok && !g.asks {
		return refs, nil
	}
	out, err := g.run(dir, nil, nil, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags")
	if err != nil {
		return nil, err
	}
	m := map[string]string{}
	for l := range strings.Lines(string(out)) {
		sha, ref, _ := strings.Cut(strings.TrimSpace(l), " ")
		m[ref] = sha
	}
	return m, nil
}

// SetRef moves a ref from old to a SHA; an empty SHA deletes it, an empty old means that there is none. It is an error
// if the ref is not at old.
func (g *Store) SetRef(dir, ref, sha, old string) error {
	if !g.asks {
		if done, err := g.setHere(dir, ref, sha, old); done {
			return err
		}
	}
	args := []string{"update-ref", ref, sha, old}
	switch {
	case sha == "":
		args = []string{"update-ref", "-d", ref, old}
	case old == "":
		args = []string{"update-ref", ref, sha, NoSHA}
	}
	_, err := g.run(dir, nil, nil, args...)
	return err
}

// Resolve is the commit that a branch, tag or (abbreviated) SHA names.
func (g *Store) Resolve(dir, ref string) (string, bool) {
	if ref == "" || strings.HasPrefix(ref, "-") {
		return "", false
	}
	names := []string{"refs/heads/" + ref, "refs/tags/" + ref, ref}
	if wholeSHA.MatchString(ref) { // GitHub permits no such name for a branch or a tag
		if g.Known(dir, ref) {
			return ref, true
		}
		names = names[2:]
	}
	for _, name := range names {
		if sha, err := g.line(dir, "rev-parse", "--quiet", "--verify", "--end-of-options", name+"^{commit}"); err == nil &&
			sha != "" {
			return sha, true
		}
	}
	return "", false
}
