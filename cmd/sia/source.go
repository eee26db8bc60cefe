package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// silentLogger returns a logger that discards everything.
func silentLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

// localRepository returns the path of a local Git repository: repo itself, or a clone of that address in a temporary
// folder.
func localRepository(ctx context.Context, repo string) (string, error) {
	if info, err := os.Stat(repo); err == nil && info.IsDir() {
		return filepath.Abs(repo)
	}
	if !strings.Contains(repo, "://") && !strings.HasPrefix(repo, "git@") {
		return "", fmt.Errorf("%s is neither a folder nor the address of a Git repository", repo)
	}
	dir, err := os.MkdirTemp("", "sia-clone-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, strings.TrimSuffix(filepath.Base(repo), ".git"))
	out, err := exec.CommandContext(ctx, "git", "clone", "--quiet", "--", repo, path).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("clone %s: %w: %s", repo, err, strings.TrimSpace(string(out)))
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return path, nil
}
