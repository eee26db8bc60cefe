package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/policies/priors"
)

// fetchTimeout bounds the download of a module, including the checksum database.
const fetchTimeout = 5 * time.Minute

// moduleFile is the file with priors in the root of a Go module.
const moduleFile = "priors.txt"

type priorsImportCmd struct {
	openedDatabase `embed:""`
	From           string   `arg:"" help:"A file, or a Go module at an exact version, such as example.com/priors@v1.2.0, with priors.txt in its root."`
	Key            []string `help:"Public key of an installation to learn from; may be given several times. Default: those in priors-keys.txt in the server's folder." sep:"none" placeholder:"KEY"`
}

// Run imports priors. A running server uses them from its next decision on.
func (c *priorsImportCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		trusted, err := c.trusted()
		if err != nil {
			return err
		}
		signed, err := c.read(e)
		if err != nil {
			return err
		}
		p, by, err := priors.ReadPriors(signed, trusted)
		if errors.Is(err, priors.ErrNotTrusted) {
			return fmt.Errorf("%w; when you know that key, give it with --key or write it into %s", err,
				filepath.Join(c.Dir, trustedFile))
		}
		if err != nil {
			return err
		}
		id, err := s.ImportPriors(e.Ctx, store.PriorImport{Source: c.From, Key: by, Signed: signed, At: s.Now()})
		if err != nil {
			return err
		}
		return c.Sayf(e, shownImportOf(store.PriorImport{ID: id, Source: c.From, Key: by, At: s.Now()}, p),
			"imported, as %d: %d cells of %d installations, made on %s\n"+
				"One task in ten is decided without it; sia priors show measures its benefit.\n", id, p.Len(),
			p.Installations, p.Made)
	})
}

// trusted returns the trusted public keys.
func (c *priorsImportCmd) trusted() ([]string, error) {
	for _, k := range c.Key {
		if err := priors.Fits(k); err != nil {
			return nil, fmt.Errorf("--key: %w", err)
		}
	}
	if len(c.Key) > 0 {
		return c.Key, nil
	}
	path := filepath.Join(c.Dir, trustedFile)
	keys, err := publicKeys(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(keys) == 0 {
		return nil, fmt.Errorf("no key is trusted yet: give the public key of whoever makes the priors with --key, or write "+
			"it into %s", path)
	}
	return keys, err
}

// read reads the file, or fetches it from a module.
func (c *priorsImportCmd) read(e *cli.Env) ([]byte, error) {
	path, version, isModule := strings.Cut(c.From, "@")
	if _, err := os.Stat(c.From); err == nil || !isModule {
		return readBounded(c.From)
	}
	if err := module.Check(path, version); err != nil {
		return nil, fmt.Errorf("%s is neither a file nor a module at an exact version, such as "+
			"example.com/priors@v1.2.0: %w", c.From, err)
	}
	fmt.Fprintf(e.Err, "fetching %s…\n", c.From)
	ctx, cancel := context.WithTimeout(e.Ctx, fetchTimeout)
	defer cancel()
	return readModule(ctx, c.From)
}

// readModule downloads a module with the go command and reads its priors. Nothing in the module is executed or kept.
// Priors count only with the signature of a trusted key, no matter who sent the module.
func readModule(ctx context.Context, at string) (_ []byte, err error) {
	program, err := exec.LookPath("go")
	if err != nil {
		return nil, fmt.Errorf("fetching %s needs the go command (https://go.dev/dl), which is not here; or fetch it "+
			"elsewhere and give the file %s: %w", at, moduleFile, err)
	}
	dir, err := os.MkdirTemp("", "sia-priors-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var said strings.Builder
	download := exec.CommandContext(ctx, program, "mod", "download", "-modcacherw", "-json", at)
	download.Dir, download.Stderr = dir, &said
	download.Env = append(os.Environ(), "GOMODCACHE="+filepath.Join(dir, "cache"), "GOTOOLCHAIN=local", "GOWORK=off",
		"GOFLAGS=")
	out, failed := download.Output()
	var got struct{ Dir, Error string }
	if err := json.Unmarshal(out, &got); err != nil || got.Error != "" || failed != nil {
		return nil, fmt.Errorf("fetch %s: %s", at, cmp.Or(got.Error, strings.TrimSpace(said.String()), fmt.Sprint(failed)))
	}
	return readBounded(filepath.Join(got.Dir, moduleFile))
}
