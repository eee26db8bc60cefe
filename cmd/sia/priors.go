package main

import (
	"fmt"
	"os"

	"github.com/sia-bot/sia/policies/priors"
)

type priorsCmd struct {
	Export    priorsExportCmd    `cmd:"" help:"Show, or write and sign, counts of what worked here, for others to learn from." example:"sia priors export"`
	Aggregate priorsAggregateCmd `cmd:"" help:"Put the counts of many installations together, for whoever runs a collection." example:"sia priors aggregate --out priors.txt reports/*.txt"`
	Import    priorsImportCmd    `cmd:"" help:"Learn from other installations: from a file, or a version of a Go module." example:"sia priors import priors.txt"`
	Show      priorsShowCmd      `cmd:"" help:"Show what was imported, and how much its techniques help here." example:"sia priors show"`
	Remove    priorsRemoveCmd    `cmd:"" help:"Remove imported priors." example:"sia priors remove"`
}

// readBounded reads a file of priors, a report or keys, up to a limit. The file may be a pipe or a device.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := priors.ReadBounded(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return b, nil
}
