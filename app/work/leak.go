package work

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

const (
	// maxNamedLeaks is the maximum number of secrets that are named.
	maxNamedLeaks = 10
	// baseFileLimit is the maximum size of a base file in which a secret is searched. In a larger one it counts as
	// absent.
	baseFileLimit = 50 << 20

	// A file is scanned in chunks. A secret is found in the chunk where it begins, together with the preceding bytes that
	// a rule needs and the bytes of the longest secret.
	scanChunk = 1 << 20
	scanLead  = 1 << 10
	scanTail  = 128 << 10
)

// errLeakLimit ends the search after maxNamedLeaks secrets.
var errLeakLimit = errors.New("enough")

// leaks returns the places of the secrets that a commit would add to the repository, as "config.yml:3 (github-pat)",
// never their values. It scans contents and name of every file that the commit adds or changes, regardless of size: a
// file that can't be read is an error. Secrets that the base already contains, in the file or the file it was renamed
// from, do not count.
func (w *attemptWorker) leaks(ctx context.Context, t sia.Task, sha string, diff gitops.Diff) ([]string, error) {
	renamed := map[string]string{}
	for _, f := range diff.Files {
		renamed[f.Path] = f.OldPath
	}
	var all []string
	add := func(leak string) error {
		if all = append(all, leak); len(all) > maxNamedLeaks {
			return errLeakLimit
		}
		return nil
	}
	err := w.mirror(t).EachChange(ctx, string(t.BaseSHA), sha, func(
		c gitops.Change, before func(string, int64) ([]byte, error),
	) error {
		was := renamed[c.Path]
		if was == "" && !c.Added {
			was = c.Path
		}
		if err := nameLeaks(w.Secrets, c.Path, was, add); err != nil || c.Open == nil || c.Seen {
			return err
		}
		in, err := c.Open()
		if err != nil {
			return err
		}
		defer in.Close()
		old := func() (string, error) {
			if was == "" {
				return "", nil
			}
			b, err := before(was, baseFileLimit)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, gitops.ErrTooLarge) {
				return "", nil
			}
			return string(b), err
		}
		return contentLeaks(ctx, w.Secrets, in, old, func(line int, rule string) error {
			return add(fmt.Sprintf("`%s:%d` (%s)", c.Path, line, rule))
		})
	})
	if err != nil && !errors.Is(err, errLeakLimit) {
		return nil, fmt.Errorf("look for secrets: %w", err)
	}
	return slices.Compact(all), nil
}

// nameLeaks calls add for a secret in a file's name unless its name in the base, if any, contains it.
func nameLeaks(m *secret.Masker, path, was string, add func(string) error) error {
	for _, x := range m.Find(path) {
		if x.Sure && !strings.Contains(was, path[x.Start:x.End]) {
			return add(fmt.Sprintf("`%s` (%s, in its name)", m.Mask(path), x.Rule))
		}
	}
	return nil
}

// contentLeaks calls add for each secret in the content that old does not contain, with the line on which it begins.
func contentLeaks(
	ctx context.Context, m *secret.Masker, in io.Reader, old func() (string, error), add func(line int, rule string) error,
) error {
	known, text := false, ""
	line := 1 // line at which buf begins
	buf := make([]byte, 0, scanLead+scanChunk+scanTail)
	for from, end := 0, false; !end; from = scanLead { // from is the offset in buf of this chunk
		n, err := io.ReadFull(in, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if end = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !end {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		to := len(buf)
		if !end {
			to -= scanTail
		}
		for _, x := range m.Find(string(buf)) {
			if !x.Sure || x.Start < from || x.Start >= to {
				continue // uncertain, or in another chunk
			}
			if !known {
				if text, err = old(); err != nil {
					return err
				}
				known = true
			}
			if strings.Contains(text, string(buf[x.Start:x.End])) {
				continue
			}
			if err := add(line+bytes.Count(buf[:x.Start], []byte("\n")), x.Rule); err != nil {
				return err
			}
		}
		if !end {
			line += bytes.Count(buf[:to-scanLead], []byte("\n"))
			buf = buf[:copy(buf, buf[to-scanLead:])]
		}
	}
	return nil
}

// leakReason returns the reason why an attempt with secrets in its commit is not pushed. No branch keeps it: the commit
// would be public on any branch.
func leakReason(leaks []string) string {
	return "nothing was pushed, since the change adds a secret: " +
		strings.Join(leaks[:min(len(leaks), maxNamedLeaks)], ", ") +
		". Read it from the environment; in a test, make one up at run time"
}
