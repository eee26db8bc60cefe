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
	Made          string // the day on which they were made, as 2026-11-23
	Installations int
	Reports       int // of all of them; each has noise of its own
	cells         map[Cell]share
}

// share is the sum of a cell; neither count is below zero.
type share struct {
	resolved, failed float64
	installations    int // that report something
}

// Bounds of what is believed of priors.
const (
	maxReports = 1_000_000
	maxSum     = 1e12
)

// priorsFile is priors as JSON.
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

// Len is how many cells they say something of.
func (p *Priors) Len() int { return len(p.cells) }

// Text is the priors as JSON, as people read them and as they are signed.
func (p *Priors) Text() (string, error) {
	f := priorsFile{priorsHead: priorsHead{PriorsFormat, p.Made, p.Installations, p.Reports}}
	for _, c := range cells(append([]string{Any}, Languages()...)) {
		if s, ok := p.cells[c]; ok {
			f.Cells = append(f.Cells, priorsRow{c, s.resolved, s.failed, s.installations})
		}
	}
	return f.text()
}

// Sign is the priors as they are published, signed by whoever made them.
func (p *Priors) Sign(k Key) ([]byte, error) {
	text, err := p.Text()
	if err != nil {
		return nil, fmt.Errorf("write priors: %w", err)
	}
	return k.sign(text)
}

// ReadPriors reads priors that one of some public keys has signed, and says which. They must be exactly
// what [Priors.Sign] writes. The error wraps [ErrNotTrusted] where somebody else has signed them.
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
	// That they are written again in the order of the list rules out what is twice or not on it.
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
