package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/atomicfile"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/policies/priors"
)

type priorsAggregateCmd struct {
	Files      []string `arg:"" help:"Reports, as sia priors export wrote them; at most 1,000 at once." type:"path"`
	Out        string   `help:"File to write, signed." required:"" type:"path" placeholder:"FILE"`
	Dir        string   `help:"Folder with the key that signs, priors.key, which is made when there is none." default:"${dir}" env:"SIA_DIR" type:"path"`
	Key        string   `help:"Another file with that key." type:"path" placeholder:"FILE"`
	Members    string   `help:"File with the public keys of the installations that count, one a line. Without it every report counts, however many one person has made." type:"existingfile" placeholder:"FILE"`
	cli.Format `embed:""`
}

// maxReports is the maximum number of reports in memory; each takes about a megabyte.
const maxReports = 1000

// Validate returns an error for more reports than fit into memory.
func (c *priorsAggregateCmd) Validate() error {
	if len(c.Files) > maxReports {
		return fmt.Errorf("%d reports: at most %d are put together at once", len(c.Files), maxReports)
	}
	return nil
}

// aggregated is the aggregate of reports, as JSON.
type aggregated struct {
	File          string `json:"file"`
	Installations int    `json:"installations"`
	Reports       int    `json:"reports"`
	Cells         int    `json:"cells"`
	Key           string `json:"key"` // public key of the signature
}

// Run reads all reports, and writes their aggregate. An invalid report is an error: the maintainer of the collection
// leaves it out, or asks its sender.
func (c *priorsAggregateCmd) Run(e *cli.Env) error {
	var members []string
	if c.Members != "" {
		var err error
		if members, err = publicKeys(c.Members); err != nil {
			return err
		}
	}
	f, err := atomicfile.Begin(c.Out, 0o644)
	if err != nil {
		return err
	}
	defer f.Discard()
	reports := make([]priors.Report, 0, len(c.Files))
	for _, name := range c.Files {
		if e.Ctx.Err() != nil {
			return e.Ctx.Err()
		}
		b, err := readBounded(name)
		if err != nil {
			return err
		}
		r, err := priors.ReadReport(b)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if c.Members != "" && !slices.Contains(members, r.Key) {
			return fmt.Errorf("%s: it is signed by %s, which is not in %s", name, r.Key, c.Members)
		}
		reports = append(reports, r)
	}
	p, err := priors.Aggregate(reports, time.Now())
	if err != nil {
		return err
	}
	key, err := signingKey(e, cmp.Or(c.Key, filepath.Join(c.Dir, keyFile)))
	if err != nil {
		return err
	}
	signed, err := p.Sign(key)
	if err != nil {
		return err
	}
	if err := f.Replace(signed); err != nil {
		return err
	}
	return c.Sayf(e, aggregated{c.Out, p.Installations, p.Reports, p.Len(), key.Public()},
		"%s: %d cells of %d reports by %d installations, signed by\n%s\n",
		c.Out, p.Len(), p.Reports, p.Installations, key.Public())
}
