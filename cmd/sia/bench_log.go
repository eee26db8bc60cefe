package main

import (
	"fmt"
	"time"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/benchtask"
)

// log measures how fast a long log is read, compared with a search for the usual keywords.
func (c *benchMachineCmd) log(e *cli.Env) ([]cli.Figure, error) {
	fmt.Fprintf(e.Err, "log: %d MB…\n", benchtask.LogBytes>>20)
	read, err := benchtask.ReadLog(e.Ctx)
	if err != nil {
		return nil, err
	}
	speed := func(took time.Duration) float64 { return float64(benchtask.LogBytes) / 1e6 / took.Seconds() }
	return []cli.Figure{
		cli.Measured("log: excerpt, signature and class", speed(read.Took), "MB/s", "≥ 50",
			fmt.Sprintf("%d MB, one core", benchtask.LogBytes>>20)),
		cli.Measured("log: keyword search, for comparison", speed(read.Search), "MB/s", "",
			"six words, case ignored; no excerpt, signature or class"),
		cli.Measured("log: peak heap", float64(read.PeakHeap)/1e6, "MB", "", "flat: the log is streamed"),
	}, nil
}
