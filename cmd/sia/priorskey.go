package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sia-bot/sia/app/atomicfile"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/policies/priors"
)

// Files in the server's folder.
const (
	keyFile     = "priors.key"      // private key that signs reports
	trustedFile = "priors-keys.txt" // trusted public keys, one a line
)

// signingKey reads a key, or creates it with permissions for its owner alone.
func signingKey(e *cli.Env, path string) (k priors.Key, err error) {
	b, err := os.ReadFile(path)
	if err == nil {
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = fmt.Errorf("others can read the key %s; make a new one, or: chmod 600 %s", path, path)
		}
		if err != nil {
			return k, err
		}
		if k, err = priors.ParseKey(string(b)); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return k, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	if k, err = priors.NewKey(rand.Reader); err != nil {
		return k, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return k, err
	}
	err = atomicfile.Create(path, []byte(k.Private()+"\n"), 0o600)
	if errors.Is(err, fs.ErrExist) { // another process has just created it
		return signingKey(e, path)
	}
	if err == nil {
		fmt.Fprintf(e.Err, "made the key %s\n", path)
	}
	return k, err
}

// publicKeys reads a list of public keys, one a line. A # begins a comment.
func publicKeys(path string) (keys []string, err error) {
	b, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(b), "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := priors.Fits(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		keys = append(keys, line)
	}
	return keys, nil
}
