package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/sia-bot/sia/app/atomicfile"
	"github.com/sia-bot/sia/app/learn"
	"github.com/sia-bot/sia/app/settings"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/policies/priors"
	"github.com/sia-bot/sia/sia/text"
)

type priorsExportCmd struct {
	openedDatabase `embed:""`
	Out            string `help:"File to write, signed. Without it nothing is kept, and what would leave is shown." type:"path" placeholder:"FILE"`
	DryRun         bool   `help:"Show what would leave, whatever else is asked for."`
	Again          bool   `help:"Write the last report again, as it was signed, when its file was lost."`
}

// exported is a written report, as JSON.
type exported struct {
	File         string `json:"file"`
	Period       int    `json:"period"`
	Key          string `json:"key"` // public
	Techniques   int    `json:"techniques"`
	Coders       int    `json:"coders"`
	Repositories int    `json:"repositories"`
	Silent       int    `json:"silent"`
}

// Validate returns an error for contradictory flags.
func (c *priorsExportCmd) Validate() error {
	if c.Again && (c.Out == "" || c.DryRun) {
		return errors.New("--again writes a file: name it with --out, and leave --dry-run out")
	}
	return nil
}

// Run shows the report, or writes it.
func (c *priorsExportCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		sharing := learn.NewSharing(s, func(ctx context.Context, r store.Repository) (bool, error) {
			set, read, err := settings.KeptSettings(ctx, s, r.Installation, r.Repo)
			return read && set.Learning.Share == "aggregate", err
		}, time.Now)
		if c.Out == "" || c.DryRun {
			return c.draft(e, sharing)
		}
		f, err := atomicfile.Begin(c.Out, 0o644)
		if err != nil {
			return err
		}
		defer f.Discard()
		var r store.SharedReport
		var what learn.Share
		if c.Again {
			r, err = s.LastSharedReport(e.Ctx)
			if errors.Is(err, store.ErrNotFound) {
				err = errors.New("nothing was exported yet, so there is nothing to write again")
			}
		} else {
			r, what, err = c.export(e, sharing)
		}
		if err != nil {
			return err
		}
		if err := f.Replace(r.Signed); err != nil {
			return fmt.Errorf("%w; the report for period %d is kept: sia priors export --again --out FILE", err, r.Period)
		}
		shown := exported{File: c.Out, Period: r.Period, Key: r.Key, Techniques: what.Techniques, Coders: what.Coders,
			Repositories: what.Repositories, Silent: what.Silent}
		return c.Sayf(e, shown, "%s: the report for period %d, signed by\n%s\n"+
			"Read it before you give it away. No task that it counts is counted again.\n", c.Out, r.Period, r.Key)
	})
}

// export creates a report signed with the server's key.
func (c *priorsExportCmd) export(e *cli.Env, sharing *learn.Sharing) (store.SharedReport, learn.Share, error) {
	key, err := signingKey(e, filepath.Join(c.Dir, keyFile))
	if err != nil {
		return store.SharedReport{}, learn.Share{}, err
	}
	r, what, err := sharing.Export(e.Ctx, key, priors.NewNoise(rand.Reader))
	if err == nil {
		printCounts(e, what)
	}
	return r, what, err
}

// draft prints a report without storing or signing it.
func (c *priorsExportCmd) draft(e *cli.Env, sharing *learn.Sharing) error {
	what, err := sharing.Draft(e.Ctx, "", priors.NewNoise(rand.Reader))
	if err != nil {
		return err
	}
	printCounts(e, what)
	fmt.Fprintln(e.Err, "Nothing was kept. What follows is not signed; keep it here: each time the noise is another, and "+
		"many of these together would tell the counts.")
	text, err := what.Report.Text()
	if err != nil {
		return err
	}
	_, err = io.WriteString(e.Out, text)
	return err
}

// printCounts prints the exact counts, which are not part of the report.
func printCounts(e *cli.Env, what learn.Share) {
	fmt.Fprintf(e.Err, "counted: the first technique of %s, the first coder of %d; %d repositories agree "+
		"(learning.share: aggregate), and of %d nothing is counted\n", text.Count(what.Techniques, "task"), what.Coders,
		what.Repositories, what.Silent)
}
