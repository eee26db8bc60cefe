// Package abuse plays attacks of testers against the program as it runs, and measures what they take of this machine.
package abuse

import (
	"cmp"
	"context"
	"errors"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/sim/stage"
)

// Resources of this machine that a load may use.
const (
	loadCPU     = 2 * time.Second // unless it ends soon after loadTimeout
	loadTimeout = 5 * time.Second
	loadMemory  = 100 << 20 // increase of the live heap, in bytes
)

// Config selects the attacks and what plays them.
type Config struct {
	Only    []string         // attacks to play, by how their names begin; none: all
	Box     *sandbox.Sandbox // of this machine
	Forward []string         // see app.Options
	Stdlib  string           // see app.Config
	// Program is the command line of sia bench abuse. It plays the attack that fills a disk, in a process of its own.
	Program  []string
	Disk     string              // folder of the small disk that this process fills; "": Program does
	Progress func(attack string) // called before each
}

// Figure is the result of one attack.
type Figure struct {
	Attack  string  `json:"attack"`
	Limit   string  `json:"limit"`
	Memory  float64 `json:"peak_memory_mb"` // increase of the live heap
	CPU     float64 `json:"cpu_seconds"`
	Seconds float64 `json:"seconds"`
	Held    bool    `json:"held"`
	Why     string  `json:"why,omitempty"` // why it did not hold, or could not be completed
}

// attack is an attack.
type attack struct {
	name, limit string // limit is what stops it, in words
	run         func(ctx context.Context) error
	prepare     func() error // nil: nothing to prepare
	// within is the time limit of an attack that is no load on this machine and whose use of resources is not judged. 0:
	// the attack is a load and has loadTimeout.
	within time.Duration
}

// Run plays the attacks one after the other. Attacker and target share this process, so the resources of both are
// counted.
func Run(ctx context.Context, c Config) ([]Figure, error) { return run(ctx, c, nil) }

// run is Run. Tests set plant, which injects a fault into the new stage.
func run(ctx context.Context, c Config, plant func(*stage.Stage) error) (all []Figure, err error) {
	dir, err := os.MkdirTemp("", "sia-abuse-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sandbox.RemoveAll(dir)) }()
	p := &target{set: c, dir: dir, plant: plant}
	defer func() { err = errors.Join(err, p.close()) }()
	for _, a := range slices.Concat(loads(dir, c.Box), p.attacks()) {
		if len(c.Only) > 0 && !slices.ContainsFunc(c.Only, func(o string) bool { return strings.HasPrefix(a.name, o) }) {
			continue
		}
		c.Progress(a.name)
		f, err := a.measure(ctx)
		if err != nil { // continue with the others
			f.Why = err.Error()
		}
		all = append(all, f)
	}
	return all, nil
}

// measure runs the attack until it ends or its context is canceled.
func (a attack) measure(ctx context.Context) (Figure, error) {
	if a.prepare != nil {
		if err := a.prepare(); err != nil {
			return Figure{Attack: a.name, Limit: a.limit}, err
		}
	}
	runtime.GC()
	before := liveHeap()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(a.within, loadTimeout))
	defer cancel()
	done := make(chan error, 1)
	began, worked := time.Now(), processorTime()
	go func() { done <- a.run(ctx) }()
	var peak uint64
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			peak = max(peak, liveHeap())
		case err := <-done:
			cancelled := errors.Is(err, context.DeadlineExceeded) && a.within == 0
			took, cpu := time.Since(began), processorTime()-worked
			grown := int64(peak) - int64(before)
			f := Figure{Attack: a.name, Limit: a.limit, Memory: float64(max(0, grown)) / 1e6, CPU: cpu.Seconds(),
				Seconds: took.Seconds()}
			if err != nil && !cancelled {
				return f, err
			}
			f.Held = a.within > 0 || grown <= loadMemory && (cpu <= loadCPU || cancelled && took <= 2*loadTimeout)
			return f, nil
		}
	}
}

// liveHeap returns the bytes of heap that were live at the last garbage collection. It leaves out uncollected garbage,
// since the collector chooses its amount.
func liveHeap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// processorTime returns the CPU time of this process, without its children.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
