package priors

import (
	"errors"
	"fmt"
	"time"
)

// PriorsFormat is the format of priors.
const PriorsFormat = "sia-priors/1"

// Priors are the combined outcomes of many installations. They are immutable.
type Priors struct {
	Made          string // date of the aggregation, such as 2026-11-23
	Installations int
	Reports       int // number of reports; each has independent noise
	cells         map[Cell]share
}

// share is the sum of a cell; both counts are at least zero.
type share struct {
	resolved, failed float64
	installations    int // number of installations with data
}

// Limits on valid priors.
const (
	maxReports = 1_000_000
	maxSum     = 1e12
)

// priorsFile is the JSON structure of priors.
type priorsFile struct {
	priorsHead
	Cells []priorsRow `json:"cells"`
}

type priorsHead struct {
	Format        string `json:"format"`
	Made          string `json:"made"`
	Installations int    `json:"installations"`
	Reports       int    `json:"reports"`
}

type priorsRow struct {
	Cell
	Resolved      float64 `json:"resolved"`
	Failed        float64 `json:"failed"`
	Installations int     `json:"installations"`
}

func (f *priorsFile) text() (string, error) { return write(f.priorsHead, "cells", f.Cells) }

// Len returns the number of cells.
func (p *Priors) Len() int { return len(p.cells) }

// Text returns the priors as JSON, in the form that is signed.
func (p *Priors) Text() (string, error) {
	f := priorsFile{priorsHead: priorsHead{PriorsFormat, p.Made, p.Installations, p.Reports}}
	for _, c := range cells(append([]string{Any}, Languages()...)) {
		if s, ok := p.cells[c]; ok {
			f.Cells = append(f.Cells, priorsRow{c, s.resolved, s.failed, s.installations})
		}
	}
	return f.text()
}

// Sign returns the priors for publication, signed with k.
func (p *Priors) Sign(k Key) ([]byte, error) {
	text, err := p.Text()
	if err != nil {
		return nil, fmt.Errorf("write priors: %w", err)
	}
	return k.sign(text)
}

// ReadPriors parses priors signed by one of the trusted public keys, and returns that key. They must be exactly as
// [Priors.Sign] writes them. The error wraps [ErrNotTrusted] if another key has signed them.
func ReadPriors(signed []byte, trusted []string) (p *Priors, by string, err error) {
	if len(signed) > Limit {
		return nil, "", errors.New("read priors: they are too large")
	}
	text, by, err := verify(signed, trusted)
	if err != nil {
		return nil, "", fmt.Errorf("read priors: %w", err)
	}
	if format := formatOf(text); format != PriorsFormat {
		return nil, "", fmt.Errorf("read priors: their format is %.40q, and this SIA reads %q", format, PriorsFormat)
	}
	var f priorsFile
	if err := read(text, &f); err != nil {
		return nil, "", fmt.Errorf("read priors: %w", err)
	}
	if _, err := time.Parse(time.DateOnly, f.Made); err != nil || f.Installations < fewest ||
		f.Reports < f.Installations || f.Reports > maxReports {
		return nil, "", fmt.Errorf("read priors: made on %.20q of %d reports by %d installations can't be", f.Made, f.Reports,
			f.Installations)
	}
	// The comparison with the text written again rules out duplicate and unlisted cells.
	p = &Priors{Made: f.Made, Installations: f.Installations, Reports: f.Reports, cells: map[Cell]share{}}
	for i, row := range f.Cells {
		if !(row.Resolved >= 0 && row.Resolved <= maxSum && row.Failed >= 0 && row.Failed <= maxSum) ||
			row.Installations < fewest || row.Installations > f.Installations {
			return nil, "", fmt.Errorf("read priors: cell %d has counts that can't be", i+1)
		}
		p.cells[row.Cell] = share{row.Resolved, row.Failed, row.Installations}
	}
	if again, err := p.Text(); err != nil || again != text {
		return nil, "", errors.Join(errors.New("read priors: the cells are not those of the public list in its order"), err)
	}
	return p, by, nil
}
