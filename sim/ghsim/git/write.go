package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// CommitFiles writes a commit of files over the first parent's tree.
func (g *Store) CommitFiles(
	dir string, parents []string, files map[string]string, message string, by Signature,
) (string, error) {
	base := ""
	if len(parents) > 0 {
		base = parents[0]
	}
	tree, err := g.WriteTree(dir, base, files)
	if err != nil {
		return "", err
	}
	return g.CommitTree(dir, tree, parents, message, by)
}

// WriteTree writes a tree of files over another, "" for none.
func (g *Store) WriteTree(dir, base string, files map[string]string) (string, error) {
	if sha, ok, err := g.treeHere(dir, base, files); ok && !g.asks {
		return sha, err
	}
	index, err := os.CreateTemp(g.root, "index-")
	if err != nil {
		return "", err
	}
	index.Close()
	defer os.Remove(index.Name())
	os.Remove(index.Name()) // git creates it itself
	env := []string{"GIT_INDEX_FILE=" + index.Name()}
	if base != "" {
		if _, err := g.run(dir, env, nil, "read-tree", base); err != nil {
			return "", err
		}
	}
	var in bytes.Buffer
	for path, content := range files {
		if content == Deleted {
			fmt.Fprintf(&in, "0 %s\t%s\n", NoSHA, path)
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
	return strings.TrimSpace(string(tree)), nil
}

// treeHere is WriteTree without git; false if git might refuse or change a path.
func (g *Store) treeHere(dir, base string, files map[string]string) (sha string, ok bool, err error) {
	tree := base
	if base != "" {
		c, known := g.commitHere(dir, base)
		if !known {
			return "", false, nil
		}
		tree = c.Tree
	}
	nodes := map[string]node{}
	for path, content := range files {
		if !plainPath.MatchString(path) || strings.Contains("/"+path+"/", "/.git/") {
			return "", false, nil
		}
		if content == Deleted {
			nodes[path] = node{}
			continue
		}
		mode := modeFile
		if strings.HasSuffix(path, ".sh") {
			mode = modeExec
		}
		blob, err := g.writeObject(dir, "blob", []byte(content))
		if err != nil {
			return "", true, err
		}
		nodes[path] = node{mode: mode, sha: blob}
	}
	sha, _, err = g.changedTree(dir, tree, nodes)
	return sha, true, err
}

// plainPath matches paths that git always accepts.
var plainPath = regexp.MustCompile(`^(\.?[A-Za-z0-9_][A-Za-z0-9_.-]*/)*\.?[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// CommitTree writes a commit of a tree.
func (g *Store) CommitTree(dir, tree string, parents []string, message string, by Signature) (string, error) {
	if !g.asks {
		if sha, ok, err := g.plainCommit(dir, tree, parents, message, by); ok || err != nil {
			return sha, err
		}
	}
	args := []string{"commit-tree", tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	date := fmt.Sprintf("%d +0000", by.At.Unix())
	out, err := g.run(dir, []string{
		"GIT_AUTHOR_NAME=" + by.Name, "GIT_AUTHOR_EMAIL=" + by.Email, "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=" + by.Name, "GIT_COMMITTER_EMAIL=" + by.Email, "GIT_COMMITTER_DATE=" + date,
	}, []byte(message+"\n"), args...)
	return strings.TrimSpace(string(out)), err
}

// MergeTree is the tree of merging head into base; ok is false when they conflict.
func (g *Store) MergeTree(dir, base, head string) (tree string, ok bool) {
	key := dir + base + head
	tree, seen := g.merged.get(key)
	if !seen && !g.asks {
		tree, seen = g.mergeHere(dir, base, head)
		if seen {
			g.merged.put(key, tree)
		}
	}
	if !seen {
		out, err := g.line(dir, "merge-tree", "--write-tree", "--no-messages", base, head)
		if err == nil {
			tree, _, _ = strings.Cut(out, "\n")
		}
		g.merged.put(key, tree)
	}
	return tree, tree != ""
}

// IsAncestor reports whether a is b or an ancestor of it.
func (g *Store) IsAncestor(dir, a, b string) bool {
	if all, known := g.ancestors(dir, b); known && !g.asks {
		return slices.Contains(all, a)
	}
	_, err := g.run(dir, nil, nil, "merge-base", "--is-ancestor", a, b)
	return err == nil
}

// Checkout makes a clone of a repository in a directory, at a commit: with only that commit, or when whole is set with
// all branches and their history.
func (g *Store) Checkout(ctx context.Context, repo, dir, sha string, whole bool) error {
	fetch := []string{"fetch", "--quiet", "--no-tags", "--depth=1", "file://" + repo, sha}
	if whole {
		fetch = []string{"fetch", "--quiet", "file://" + repo, sha, "refs/heads/*:refs/remotes/origin/*"}
	}
	commands := [][]string{{"init", "--quiet"}, fetch}
	err := os.MkdirAll(dir, 0o755)
	if _, again := os.Stat(filepath.Join(dir, ".git")); err == nil && again != nil && !whole {
		commands, err = nil, shallow(repo, filepath.Join(dir, ".git"), sha)
	}
	if err != nil {
		return fmt.Errorf("checking out %s: %w", sha, err)
	}
	for _, args := range append(commands, []string{"checkout", "--quiet", "--detach", sha}) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Env = dir, g.env()
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(out.String()))
		}
	}
	return nil
}

// shallow has the result of init and fetch --depth=1, but with the repository's own objects: a fetch takes git about
// ten processes.
func shallow(repo, dir, sha string) error {
	for _, folder := range []string{"objects/info", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return err
		}
	}
	for path, text := range map[string]string{
		"objects/info/alternates": filepath.Join(repo, "objects") + "\n", "shallow": sha + "\n",
		"HEAD":   "ref: refs/heads/main\n",
		"config": "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
