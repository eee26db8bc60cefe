package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/tamper"
)

// localGit reads commits of a repository on this machine with the git command.
type localGit struct{ dir string }

// namesRepository reports whether a variable has git work in another repository than that of its folder. Hooks have
// such variables, and so have aliases in a linked work tree.
// https://git-scm.com/docs/git#_environment_variables
func namesRepository(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	switch name {
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_NAMESPACE":
		return true
	}
	return false
}

func (g localGit) run(ctx context.Context, args ...string) ([]byte, error) {
	return g.plumb(ctx, nil, "", args...)
}

// plumb runs git with variables and an input of its own.
func (g localGit) plumb(ctx context.Context, env []string, stdin string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", g.dir}, args...)...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), namesRepository), "LC_ALL=C") // what it says is read
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

// commits lists the commits after base up to head, oldest first, each behind its
// parent. Merges are left out.
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

// commit is the id of a commit that a person named.
func (g localGit) commit(ctx context.Context, name string) (string, error) {
	if _, err := g.run(ctx, "rev-parse", "--git-dir"); err != nil {
		return "", fmt.Errorf("%s is no clone of a Git repository; name one with --repo", g.dir)
	}
	out, err := g.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%s is no commit of %s; git log lists those that there are", name, g.dir)
	}
	return string(bytes.TrimSpace(out)), nil
}

// changes reads what differs between two commits, whatever somebody has configured for their eyes.
func (g localGit) changes(ctx context.Context, base, head string) ([]tamper.Change, error) {
	out, err := g.run(ctx, "-c", "diff.suppressBlankEmpty=false", "diff", "--no-relative", "--raw", "-p", "-z",
		"-M", "-U3", "--no-abbrev", "--no-color", "--no-ext-diff",
		"--no-textconv", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", base, head)
	if err != nil {
		return nil, err
	}
	changes, blobs, patch := readRaw(string(out))
	readPatches(changes, patch)
	return changes, g.readOld(ctx, changes, blobs)
}

// readRaw reads the list of files before a patch: with -z, a record is
// ":modes hashes status NUL path NUL", and of a rename two paths
// (https://git-scm.com/docs/git-diff#_raw_output_format).
func readRaw(out string) (changes []tamper.Change, blobs []string, patch string) {
	field := func() (f string) {
		f, out, _ = strings.Cut(out, "\x00")
		return f
	}
	for strings.HasPrefix(out, ":") {
		about := strings.Fields(field())
		c := tamper.Change{Path: field(), Status: "modified"}
		switch status := about[len(about)-1]; status[0] {
		case 'A':
			c.Status = "added"
		case 'D':
			c.Status = "deleted"
		case 'T': // a file that is now a symlink, or the like: its patch deletes one, and adds the other
			c.Status = "deleted"
			changes, blobs = append(changes, c), append(blobs, about[2])
			c.Status = "added"
		case 'R':
			c.Status, c.OldPath, c.Path = "renamed", c.Path, field()
		}
		changes, blobs = append(changes, c), append(blobs, about[2])
	}
	return changes, blobs, strings.TrimPrefix(out, "\x00")
}

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// readPatches gives each change the hunks of its patch; patches come in the
// order of the changes.
func readPatches(changes []tamper.Change, patch string) {
	at, inHunk := -1, false
	for line := range strings.SplitSeq(patch, "\n") {
		if strings.HasPrefix(line, "diff --git ") {
			at, inHunk = at+1, false
		}
		if at < 0 || at >= len(changes) {
			continue
		}
		c := &changes[at]
		switch m := hunkHead.FindStringSubmatch(line); {
		case m != nil:
			old, _ := strconv.Atoi(m[1])
			now, _ := strconv.Atoi(m[2])
			c.Hunks, inHunk = append(c.Hunks, tamper.Hunk{OldStart: old, NewStart: now}), true
		case !inHunk:
			c.Opaque = c.Opaque || strings.HasPrefix(line, "Binary files ")
		case line != "" && strings.IndexByte(" +-", line[0]) >= 0:
			h := &c.Hunks[len(c.Hunks)-1]
			h.Lines = append(h.Lines, line)
		}
	}
}

// maxOld is the size of the largest file that is read on the base; the same as for attempts.
const maxOld = 1 << 20

// readOld reads the texts on the base that help to understand the changes.
func (g localGit) readOld(ctx context.Context, changes []tamper.Change, blobs []string) error {
	for i, c := range changes {
		if !tamper.ReadsOld(c) {
			continue
		}
		text, err := g.run(ctx, "cat-file", "blob", blobs[i])
		if err != nil {
			return err
		}
		if len(text) <= maxOld {
			changes[i].Old = string(text)
		}
	}
	return nil
}
