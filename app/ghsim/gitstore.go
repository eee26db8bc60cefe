package ghsim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// gitStore keeps the bare repositories and reads them with the git command.
// What was read of a commit is cached: commits don't change. Safe for concurrent
// use.
type gitStore struct {
	ctx     context.Context
	root    string
	exec    string // git --exec-path
	mu      sync.Mutex
	commits map[string]commitFacts
	diffs   map[string]comparison
	merged  map[string]string // base and head → tree of their merge; "" when they conflict
}

// gitTimeout bounds one git command.
const gitTimeout = time.Minute

// ident is who a commit is by, and when.
type ident struct {
	name, email string
	at          time.Time
}

// noSHA is what git calls a ref that does not exist.
const noSHA = "0000000000000000000000000000000000000000"

func newGitStore(ctx context.Context, root string) (*gitStore, error) {
	g := &gitStore{ctx: ctx, root: root, commits: map[string]commitFacts{}, diffs: map[string]comparison{}, merged: map[string]string{}}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("simulator directory: %w", err)
	}
	out, err := g.run("", nil, nil, "--exec-path")
	if err != nil {
		return nil, fmt.Errorf("looking for git, which the simulator needs: %w", err)
	}
	g.exec = strings.TrimSpace(string(out))
	return g, nil
}

func (g *gitStore) path(id int64) string {
	return filepath.Join(g.root, strconv.FormatInt(id, 10)+".git")
}

// env is the environment of every git command: nobody's configuration.
func (g *gitStore) env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.root, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_TERMINAL_PROMPT=0", "LC_ALL=C.UTF-8", "TZ=UTC"}
}

// run runs git in a directory and returns its standard output.
func (g *gitStore) run(dir string, env []string, stdin []byte, args ...string) ([]byte, error) {
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

func (g *gitStore) line(dir string, args ...string) (string, error) {
	out, err := g.run(dir, nil, nil, args...)
	return strings.TrimSpace(string(out)), err
}

// create makes a bare repository and returns its default branch.
func (g *gitStore) create(id int64, spec RepoSpec, by ident) (string, error) {
	dir := g.path(id)
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
		if _, err := g.run(g.root, nil, nil, "clone", "--quiet", "--bare", "--no-hardlinks", "file://"+from, dir); err != nil {
			return "", err
		}
	}
	if branch == "" {
		branch = "main"
	}
	if spec.From == "" {
		if _, err := g.run(g.root, nil, nil, "init", "--quiet", "--bare", "--initial-branch="+branch, dir); err != nil {
			return "", err
		}
	}
	if err := g.configure(dir, branch); err != nil {
		return "", err
	}
	if spec.From != "" || spec.Files == nil {
		return branch, nil
	}
	message := spec.Message
	if message == "" {
		message = "Initial commit"
	}
	sha, err := g.commit(dir, nil, spec.Files, message, by)
	if err != nil {
		return "", err
	}
	return branch, g.setRef(dir, "refs/heads/"+branch, sha, "")
}

func (g *gitStore) configure(dir, branch string) error {
	config := "[http]\n\treceivepack = true\n[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n" +
		"[receive]\n\tdenyDeleteCurrent = refuse\n[gc]\n\tauto = 0\n[core]\n\tbare = true\n\trepositoryformatversion = 0\n\tfilemode = true\n"
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o644); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "hooks"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "hooks", "pre-receive"), []byte(preReceive), 0o755); err != nil {
		return err
	}
	_, err := g.run(dir, nil, nil, "symbolic-ref", "HEAD", "refs/heads/"+branch)
	return err
}

// refs are all branches and tags.
func (g *gitStore) refs(dir string) (map[string]string, error) {
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

// setRef moves a ref from old to a SHA; an empty SHA deletes it, an empty old
// means that there is none. A ref that is not at old is left alone: an error.
func (g *gitStore) setRef(dir, ref, sha, old string) error {
	args := []string{"update-ref", ref, sha, old}
	switch {
	case sha == "":
		args = []string{"update-ref", "-d", ref, old}
	case old == "":
		args = []string{"update-ref", ref, sha, noSHA}
	}
	_, err := g.run(dir, nil, nil, args...)
	return err
}

// resolve is the commit that a branch, tag or (abbreviated) SHA names.
func (g *gitStore) resolve(dir, ref string) (string, bool) {
	if ref == "" || strings.HasPrefix(ref, "-") {
		return "", false
	}
	for _, name := range []string{"refs/heads/" + ref, "refs/tags/" + ref, ref} {
		if sha, err := g.line(dir, "rev-parse", "--quiet", "--verify", "--end-of-options", name+"^{commit}"); err == nil && sha != "" {
			return sha, true
		}
	}
	return "", false
}

// commit writes a commit of files over the first parent's tree.
func (g *gitStore) commit(dir string, parents []string, files map[string]string, message string, by ident) (string, error) {
	index, err := os.CreateTemp(g.root, "index-")
	if err != nil {
		return "", err
	}
	index.Close()
	defer os.Remove(index.Name())
	os.Remove(index.Name()) // git wants to make it itself
	env := []string{"GIT_INDEX_FILE=" + index.Name()}
	if len(parents) > 0 {
		if _, err := g.run(dir, env, nil, "read-tree", parents[0]); err != nil {
			return "", err
		}
	}
	var in bytes.Buffer
	for path, content := range files {
		if content == Deleted {
			fmt.Fprintf(&in, "0 %s\t%s\n", noSHA, path)
			continue
		}
		out, err := g.run(dir, nil, []byte(content), "hash-object", "-w", "--stdin")
		if err != nil {
			return "", err
		}
		mode := "100644"
		if strings.HasSuffix(path, ".sh") {
			mode = "100755"
		}
		fmt.Fprintf(&in, "%s %s\t%s\n", mode, strings.TrimSpace(string(out)), path)
	}
	if _, err := g.run(dir, env, in.Bytes(), "update-index", "--add", "--index-info"); err != nil {
		return "", err
	}
	tree, err := g.run(dir, env, nil, "write-tree")
	if err != nil {
		return "", err
	}
	return g.commitTree(dir, strings.TrimSpace(string(tree)), parents, message, by)
}

func (g *gitStore) commitTree(dir, tree string, parents []string, message string, by ident) (string, error) {
	args := []string{"commit-tree", tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	date := fmt.Sprintf("%d +0000", by.at.Unix())
	out, err := g.run(dir, []string{
		"GIT_AUTHOR_NAME=" + by.name, "GIT_AUTHOR_EMAIL=" + by.email, "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=" + by.name, "GIT_COMMITTER_EMAIL=" + by.email, "GIT_COMMITTER_DATE=" + date,
	}, []byte(message+"\n"), args...)
	return strings.TrimSpace(string(out)), err
}

// mergeTree is the tree of merging head into base; ok is false when they conflict.
func (g *gitStore) mergeTree(dir, base, head string) (tree string, ok bool) {
	key := dir + base + head
	g.mu.Lock()
	tree, seen := g.merged[key]
	g.mu.Unlock()
	if !seen {
		out, err := g.line(dir, "merge-tree", "--write-tree", "--no-messages", base, head)
		if err == nil {
			tree, _, _ = strings.Cut(out, "\n")
		}
		g.mu.Lock()
		g.merged[key] = tree
		g.mu.Unlock()
	}
	return tree, tree != ""
}

// isAncestor reports whether a is b or an ancestor of it.
func (g *gitStore) isAncestor(dir, a, b string) bool {
	_, err := g.run(dir, nil, nil, "merge-base", "--is-ancestor", a, b)
	return err == nil
}

// treeEntry is one entry of a directory.
type treeEntry struct {
	mode, kind, sha, path string // kind: blob, tree or commit
	size                  int64
}

// ls lists a directory ("" is the root) of a commit; recursive lists files only.
func (g *gitStore) ls(dir, sha, path string, recursive bool) ([]treeEntry, error) {
	args := []string{"ls-tree", "-z", "-l"}
	if recursive {
		args = append(args, "-r")
	}
	args = append(args, sha)
	if path != "" {
		args = append(args, "--", strings.TrimSuffix(path, "/")+"/")
	}
	out, err := g.run(dir, nil, nil, args...)
	if err != nil {
		return nil, err
	}
	var es []treeEntry
	for l := range strings.SplitSeq(string(out), "\x00") {
		meta, name, ok := strings.Cut(l, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 4 {
			continue
		}
		size, _ := strconv.ParseInt(f[3], 10, 64)
		es = append(es, treeEntry{mode: f[0], kind: f[1], sha: f[2], size: size, path: name})
	}
	return es, nil
}

func (g *gitStore) paths(dir, sha string) ([]string, error) {
	es, err := g.ls(dir, sha, "", true)
	var ps []string
	for _, e := range es {
		ps = append(ps, e.path)
	}
	slices.Sort(ps)
	return ps, err
}

// errNoFile is what blobAt wraps when a path is not there.
var errNoFile = errors.New("no such file")

// entryAt is the entry of a path in a commit.
func (g *gitStore) entryAt(dir, sha, path string) (treeEntry, error) {
	out, err := g.run(dir, nil, nil, "ls-tree", "-z", "-l", sha, "--", strings.Trim(path, "/"))
	if err != nil {
		return treeEntry{}, err
	}
	meta, name, ok := strings.Cut(strings.TrimSuffix(string(out), "\x00"), "\t")
	f := strings.Fields(meta)
	if !ok || len(f) != 4 {
		return treeEntry{}, fmt.Errorf("%s at %.7s: %w", path, sha, errNoFile)
	}
	size, _ := strconv.ParseInt(f[3], 10, 64)
	return treeEntry{mode: f[0], kind: f[1], sha: f[2], size: size, path: name}, nil
}

func (g *gitStore) blobAt(dir, sha, path string) ([]byte, error) {
	e, err := g.entryAt(dir, sha, path)
	if err != nil {
		return nil, err
	}
	if e.kind != "blob" {
		return nil, fmt.Errorf("%s at %.7s is a directory: %w", path, sha, errNoFile)
	}
	return g.run(dir, nil, nil, "cat-file", "blob", e.sha)
}
