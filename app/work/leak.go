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
	// mostLeaks is how many are named; more say nothing new.
	mostLeaks = 10
	// beforeLimit bounds a file of the base that a secret is looked for in. In a larger one it
	// counts as absent.
	beforeLimit = 50 << 20

	// A file is read in pieces. A secret is found where it begins, with the bytes before it
	// that a rule looks at and those that the longest secret has.
	scanPiece = 1 << 20
	scanLead  = 1 << 10
	scanTail  = 128 << 10
)

// errEnough ends the search for secrets.
var errEnough = errors.New("enough")

// leaks names the secrets that a commit would add to the repository, as
// "config.yml:3 (github-pat)", and never their values. It reads every file that the commit
// adds or changes, and its name, whatever their size: what can't be read is an error. What
// the base has already, under that name or the one before a renaming, is not the commit's
// doing.
func (w *attemptWorker) leaks(ctx context.Context, t sia.Task, sha string, diff gitops.Diff) ([]string, error) {
	renamed := map[string]string{}
	for _, f := range diff.Files {
		renamed[f.Path] = f.OldPath
	}
	var all []string
	add := func(leak string) error {
		if all = append(all, leak); len(all) > mostLeaks {
			return errEnough
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
			b, err := before(was, beforeLimit)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, gitops.ErrTooLarge) {
				return "", nil
			}
			return string(b), err
		}
		return contentLeaks(ctx, w.Secrets, in, old, func(line int, rule string) error {
			return add(fmt.Sprintf("`%s:%d` (%s)", c.Path, line, rule))
		})
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("look for secrets: %w", err)
	}
	return slices.Compact(all), nil
}

// nameLeaks names the secrets in a file's name that its name in the base, if any, does not
// have.
func nameLeaks(m *secret.Masker, path, was string, add func(string) error) error {
	for _, x := range m.Find(path) {
		if x.Sure && !strings.Contains(was, path[x.Start:x.End]) {
			return add(fmt.Sprintf("`%s` (%s, in its name)", m.Mask(path), x.Rule))
		}
	}
	return nil
}

// contentLeaks tells of the secrets in what it reads that old does not have, each with the
// line on which it begins.
func contentLeaks(
	ctx context.Context, m *secret.Masker, in io.Reader, old func() (string, error), add func(line int, rule string) error,
) error {
	known, text := false, ""
	line := 1 // on which buf begins
	buf := make([]byte, 0, scanLead+scanPiece+scanTail)
	for from, end := 0, false; !end; from = scanLead { // from is where in buf this piece begins
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
				continue // no credential for sure, or another piece's
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

// leaksFound says why an attempt with secrets in its commit is not pushed. Nothing of it is kept: the commit would be
// as public on any branch.
func leaksFound(leaks []string) string {
	return "nothing was pushed, since the change adds a secret: " +
		strings.Join(leaks[:min(len(leaks), mostLeaks)], ", ") +
		". Read it from the environment; in a test, make one up at run time"
}
