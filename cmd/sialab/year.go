package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/year"
)

type yearCmd struct {
	Years      int    `help:"Invented years." default:"5" min:"1"`
	Seed       uint64 `help:"Seed of the first year; the others count on from it." default:"9090909"`
	Keep       string `help:"Keep the first year's database in this file, for sia policies explain --db sqlite:FILE." placeholder:"FILE" type:"path"`
	cli.Format `embed:""`
}

// yearReport is the JSON of sialab year. It depends only on the flags.
type yearReport struct {
	Synthetic bool          `json:"synthetic"` // true: the installation is invented
	Seed      uint64        `json:"seed"`
	Years     []year.Result `json:"years"`
	Gain      yearGain      `json:"gain"`              // of the whole year
	LastGain  yearGain      `json:"last_quarter_gain"` // of its last quarter
	Explained int           `json:"explained_steps"`
}

// yearGain is the increase of resolved tasks over the shipped policies, on the same tasks, in percentage points.
type yearGain struct {
	Points float64 `json:"points"`
	Low    float64 `json:"low"` // 95 % interval of the mean over the years
	High   float64 `json:"high"`
}

// gainOf returns the mean of points with its interval, by Student's t.
func gainOf(points []float64) yearGain {
	mean, square := 0.0, 0.0
	for _, p := range points {
		mean += p / float64(len(points))
	}
	if len(points) == 1 {
		return yearGain{mean, mean, mean}
	}
	for _, p := range points {
		square += (p - mean) * (p - mean) / float64(len(points)-1)
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(len(points) - 1)}
	half := t.Quantile(.975) * math.Sqrt(square/float64(len(points)))
	return yearGain{mean, mean - half, mean + half}
}

// Run plays years and prints their results.
func (c *yearCmd) Run(e *cli.Env) (err error) {
	report := yearReport{Synthetic: true, Seed: c.Seed}
	var gains, last []float64
	for i := range c.Years {
		fmt.Fprintf(e.Err, "year %d of %d…\n", i+1, c.Years)
		file := ""
		if i == 0 {
			file = c.Keep
		}
		r, err := playYear(e.Ctx, c.Seed+uint64(i), file)
		if err != nil {
			return err
		}
		report.Years = append(report.Years, r)
		report.Explained += r.Steps
		gains, last = append(gains, 100*(r.With-r.Fixed)), append(last, 100*(r.Last-r.LastFix))
	}
	report.Gain, report.LastGain = gainOf(gains), gainOf(last)
	return c.Print(e, report, func() error { return report.print(e.Out) })
}

// playYear plays one year with a database in the file, or in a temporary folder.
func playYear(ctx context.Context, seed uint64, file string) (r year.Result, err error) {
	if file == "" {
		dir, err := os.MkdirTemp("", "sia-year-")
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		file = filepath.Join(dir, "year.db")
	} else if _, err := os.Stat(file); err == nil {
		return r, fmt.Errorf("%s is there already; name another file, or remove it", file)
	}
	var s *store.Store
	defer func() {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	return year.Play(ctx, year.Default(seed), func(now func() time.Time) (*store.Store, error) {
		s, err = store.Open(ctx, store.Config{URL: "sqlite:" + file, Logger: slog.New(slog.DiscardHandler), Now: now})
		if err != nil {
			return nil, err
		}
		_, _, err = s.Migrate(ctx)
		return s, err
	})
}

func (r yearReport) print(out io.Writer) error {
	fmt.Fprintf(out, "SYNTHETIC: an invented installation of ten repositories, seed %d. What policies decide means "+
		"nothing there: each change has a\nhidden effect, and the real code proposes, tries, promotes and takes back by "+
		"what comes of tasks. The same tasks without any change\nare what is compared with.\n\n", r.Seed)
	w := cli.NewTable(out, "YEAR", "TASKS", "RESOLVED", "WITHOUT", "LAST QUARTER", "WITHOUT", "PROPOSED",
		"PROMOTED good/none/harmful", "TAKEN BACK (rightly)", "HARM IN FORCE AT THE END",
		"TASKS UNDER A HARMFUL ONE")
	for i, y := range r.Years {
		n := y.Ended
		w.Rowf("%d\t%d\t%.1f %%\t%.1f %%\t%.1f %%\t%.1f %%\t%d\t%d/%d/%d\t%d (%d)\t%d\t%s",
			i+1, y.Tasks, 100*y.With, 100*y.Fixed, 100*y.Last, 100*y.LastFix, y.Proposed, n.PromotedGood, n.PromotedNull,
			n.PromotedHarmful, n.RolledBack, n.RolledBack-n.RolledBackWell, y.HarmLeft,
			cmp.Or(strings.Trim(fmt.Sprint(y.Harmed), "[]"), "–"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\nMore resolved than without: %+.1f points over the year (%.1f to %.1f), %+.1f in its "+
		"last quarter (%.1f to %.1f).\n"+
		"%d steps, each with its reason; `sialab year --keep year.db` and `sia policies explain --db "+
		"sqlite:year.db` show them.\n",
		r.Gain.Points, r.Gain.Low, r.Gain.High, r.LastGain.Points, r.LastGain.Low, r.LastGain.High, r.Explained)
	return err
}
