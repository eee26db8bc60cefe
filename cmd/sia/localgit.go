package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/work"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia/tamper"
)

// localGit reads commits of a repository on this machine with the git command.
type localGit struct{ dir string }

// selectsRepository reports whether an environment variable makes git use another repository than that of its folder.
// Hooks set such variables, and so do aliases in a linked work tree.
// https://git-scm.com/docs/git#_environment_variables
func selectsRepository(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	switch name {
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_NAMESPACE":
		return true
	}
	return false
}

func (g localGit) run(ctx context.Context, args ...string) ([]byte, error) {
	return g.runWith(ctx, nil, "", args...)
}

// runWith runs git with additional environment variables and standard input.
func (g localGit) runWith(ctx context.Context, env []string, stdin string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", g.dir}, args...)...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), selectsRepository), "LC_ALL=C") // its output is parsed
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}

// fetch gets a ref of another repository. It writes only the ref's target.
func (g localGit) fetch(ctx context.Context, from, ref string) error {
	_, err := g.run(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--", from,
		ref)
	return err
}

// ignored returns the patterns that a person ignores outside of the commits: those of core.excludesFile, and then those
// of info/exclude, which outweigh them (https://git-scm.com/docs/gitignore#_description).
func (g localGit) ignored(ctx context.Context) (patterns []byte, err error) {
	configured, err := g.run(ctx, "config", "--type=path", "--default=", "--get", "core.excludesFile")
	if err != nil {
		return nil, err
	}
	own, err := g.run(ctx, "rev-parse", "--git-path", "info/exclude")
	if err != nil {
		return nil, err
	}
	files := []string{strings.TrimSuffix(string(configured), "\n"), strings.TrimSuffix(string(own), "\n")}
	if files[0] == "" {
		home, _ := os.UserHomeDir()
		files[0] = filepath.Join(cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "git", "ignore")
	}
	for _, name := range files {
		if !filepath.IsAbs(name) {
			name = filepath.Join(g.dir, name)
		}
		if text, err := os.ReadFile(name); err == nil { // git leaves out what it can't read, with a warning at most
			patterns = append(append(patterns, text...), '\n')
		}
	}
	return patterns, nil
}

// commits returns the commits after base up to head, oldest first, each after its parent, as pairs of parent and
// commit. Merges are left out.
func (g localGit) commits(ctx context.Context, base, head string) ([][2]string, error) {
	out, err := g.run(ctx, "rev-list", "--reverse", "--no-merges", "--parents", "--end-of-options", base+".."+head)
	if err != nil {
		return nil, err
	}
	var pairs [][2]string
	for line := range strings.Lines(string(out)) {
		if commit, parent, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			pairs = append(pairs, [2]string{parent, commit})
		}
	}
	return pairs, nil
}

// commit returns the id of a named commit.
func (g localGit) commit(ctx context.Context, name string) (string, error) {
	out, err := g.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		if _, err := g.run(ctx, "rev-parse", "--git-dir"); err != nil {
			return "", fmt.Errorf("%s is no clone of a Git repository; name one with --repo", g.dir)
		}
		return "", fmt.Errorf("%s is no commit of %s; git log lists those that there are", name, g.dir)
	}
	return string(bytes.TrimSpace(out)), nil
}

// changes returns the differences between two commits, as SIA reads them for attempts.
func (g localGit) changes(ctx context.Context, base, head string) ([]tamper.Change, error) {
	history, err := gitops.OpenHistory(g.dir)
	if err != nil {
		return nil, err
	}
	defer history.Close()
	diff, err := history.Diff(ctx, base, head)
	if err != nil {
		return nil, err
	}
	changed, err := history.Changes(ctx, base, head, math.MaxInt)
	if err != nil {
		return nil, err
	}
	was := map[string]string{}
	for _, c := range changed {
		was[c.Path] = c.Was.ID
	}
	workflows, err := g.run(ctx, "ls-tree", "-r", "-z", "--name-only", base, ".github/workflows/")
	if err != nil {
		return nil, err
	}
	names := strings.Split(strings.TrimSuffix(string(workflows), "\x00"), "\x00")
	return work.TamperChanges(diff, names, func(path string, most int64) ([]byte, error) {
		if id := was[path]; id != "" {
			return history.Blob(id, most)
		}
		out, err := g.run(ctx, "cat-file", "blob", base+":"+path)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
		}
		return out, nil
	})
}
