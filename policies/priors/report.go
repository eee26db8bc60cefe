package priors

import (
	"errors"
	"fmt"
)

// ReportFormat is the format of a report, its list of cells included.
const ReportFormat = "sia-counts/1"

// Report contains the counts that an installation shares for one period: every cell of the public list, with noise.
type Report struct {
	Key    string // public key of the installation that signed it
	Period int    // number of the installation's report, from 1
	Counts Counts
}

// Limits on a valid report.
const (
	maxPeriod = 100_000
	maxCount  = 10_000_000 // maximum absolute value of a count
)

// reportFile is the JSON structure of a report.
type reportFile struct {
	reportHead
	Cells []reportRow `json:"cells"`
}

type reportHead struct {
	Format  string  `json:"format"`
	Key     string  `json:"key"`
	Period  int     `json:"period"`
	Epsilon float64 `json:"epsilon"`
}

type reportRow struct {
	Cell
	Tally
}

func (f *reportFile) text() (string, error) { return write(f.reportHead, "cells", f.Cells) }

// Text returns the report as JSON, in the form that is signed.
func (r Report) Text() (string, error) {
	f := reportFile{reportHead: reportHead{ReportFormat, r.Key, r.Period, Epsilon}}
	for _, c := range Cells() {
		f.Cells = append(f.Cells, reportRow{c, r.Counts[c]})
	}
	return f.text()
}

// Sign returns the report for sharing, signed with the installation's key.
func (r Report) Sign(k Key) ([]byte, error) {
	r.Key = k.Public()
	text, err := r.Text()
	if err != nil {
		return nil, fmt.Errorf("write a report: %w", err)
	}
	return k.sign(text)
}

// ReadReport parses a signed report. It must be signed by the key that it names, and be exactly as [Report.Sign] writes
// it. The caller must check whether the key is known.
func ReadReport(signed []byte) (Report, error) {
	if len(signed) > Limit {
		return Report{}, errors.New("read a report: it is too large")
	}
	var f reportFile
	text := unsigned(signed)
	if format := formatOf(text); format != ReportFormat {
		return Report{}, fmt.Errorf("read a report: its format is %.40q, and this SIA reads %q", format, ReportFormat)
	}
	if err := read(text, &f); err != nil {
		return Report{}, fmt.Errorf("read a report: %w", err)
	}
	verified, _, err := verify(signed, []string{f.Key})
	switch {
	case err != nil:
		return Report{}, fmt.Errorf("read a report: %w", err)
	case verified != text:
		return Report{}, errors.New("read a report: the signature is of another text")
	case f.Epsilon != Epsilon:
		return Report{}, fmt.Errorf("read a report: its noise is of ε = %v, not %d", f.Epsilon, Epsilon)
	case f.Period < 1 || f.Period > maxPeriod:
		return Report{}, fmt.Errorf("read a report: there is no period %d", f.Period)
	}
	list := Cells()
	if len(f.Cells) != len(list) {
		return Report{}, fmt.Errorf("read a report: it has %d cells, and the public list %d", len(f.Cells), len(list))
	}
	r := Report{Key: f.Key, Period: f.Period, Counts: Counts{}}
	for i, row := range f.Cells {
		if row.Cell != list[i] {
			return Report{}, fmt.Errorf("read a report: cell %d is not that of the public list", i+1)
		}
		if !within(row.Resolved) || !within(row.Failed) {
			return Report{}, fmt.Errorf("read a report: cell %d has a count beyond ±%d", i+1, maxCount)
		}
		r.Counts[row.Cell] = row.Tally
	}
	return r, nil
}

func within(n int64) bool { return n >= -maxCount && n <= maxCount }
