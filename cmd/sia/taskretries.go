package main

import (
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// retriedStep is a step of a task that did not succeed yet, as JSON. Fields are only added.
type retriedStep struct {
	Step  sia.EffectKind `json:"step"`
	Key   string         `json:"key"`            // of its effect
	Tries int            `json:"tries"`          // that failed; 0: it only had to wait
	Error string         `json:"error"`          // of the last try
	Next  *time.Time     `json:"next,omitempty"` // when it is tried next; nil: it is tried now
}

// retriedSteps returns the steps of a task that failed or had to wait, oldest first.
func retriedSteps(e *cli.Env, s *store.Store, id sia.TaskID) (steps []retriedStep, err error) {
	all, err := s.Retries(e.Ctx, id)
	for _, f := range all {
		step := retriedStep{Step: f.Kind, Key: f.Key, Tries: f.Tries, Error: f.Error}
		if !f.Next.IsZero() {
			step.Next = &f.Next
		}
		steps = append(steps, step)
	}
	return steps, err
}

// showRetries prints a line for each step.
func showRetries(e *cli.Env, steps []retriedStep) {
	for _, r := range steps {
		what, next := "waits", "tried now"
		if r.Tries > 0 {
			what = "failed " + text.Count(r.Tries, "time")
		}
		if r.Next != nil {
			next = "next at " + r.Next.Local().Format(time.DateTime)
		}
		e.Linef("%s  %s, %s: %s", e.Style.Amber(string(r.Step)), what, next, text.OneLine(r.Error))
	}
}
