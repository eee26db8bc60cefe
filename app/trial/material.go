package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/mine"
)

// Limits of the log excerpts for an author.
const (
	samples      = 5 // of each outcome
	lastRejected = 10
	lastUntried  = 10
)

// Material is an author's input. It contains no text by strangers: issues are described by counts and kinds.
type Material struct {
	Policy   policies.Policy
	Options  []mine.OptionWorth // the results of each choice
	Findings []string           // contexts in which a choice does well or badly, as sentences
	Resolved []string           // decisions before a passed attempt: context and choice
	Failed   []string
	Rejected []Rejected
	Untried  []string // changes that were proposed before and not tried yet
}

// Rejected is a change that was proposed before and failed.
type Rejected struct{ Path, Value, Why string }

// material returns what is known about a policy.
func (e *Evolver) material(ctx context.Context, s subject) (Material, error) {
	m := Material{Policy: s.policy}
	known, err := e.Log.Mined(ctx, s.installation, s.policy.Decision)
	if err != nil {
		return m, err
	}
	m.Options = mine.Options(known)
	for _, f := range mine.Look(known).Found {
		m.Findings = append(m.Findings, f.Text)
	}
	for _, d := range slices.Backward(known) {
		line := formatDecision(d)
		switch {
		case d.Resolved && len(m.Resolved) < samples:
			m.Resolved = append(m.Resolved, line)
		case !d.Resolved && len(m.Failed) < samples:
			m.Failed = append(m.Failed, line)
		}
	}
	past, err := e.Store.Experiments(ctx, s.installation, false)
	if err != nil {
		return m, err
	}
	tried := map[string]bool{}
	for _, x := range slices.Backward(past) {
		change := policies.Mutation{Path: x.Path, Value: x.Value}.String()
		bad := x.Phase == store.ExperimentRejected || x.Phase == store.ExperimentStopped ||
			x.Phase == store.ExperimentRolledBack
		switch {
		case !s.matches(x):
		case x.Number == 0:
			if !tried[change] && len(m.Untried) < lastUntried {
				m.Untried = append(m.Untried, change)
			}
		default:
			tried[change] = true
			if bad && len(m.Rejected) < lastRejected {
				m.Rejected = append(m.Rejected, Rejected{x.Path, x.Value, x.Why})
			}
		}
	}
	return m, nil
}

// formatDecision formats a decision as a line.
func formatDecision(d mine.Decision) string {
	c := d.Context
	words := []string{"kind " + string(c.Task.Kind), fmt.Sprintf("%d words", c.Task.Words)}
	add := func(name, value string) {
		if value != "" {
			words = append(words, name+" "+value)
		}
	}
	add("language", c.Language)
	add("class", c.Class)
	add("pattern", c.Pattern)
	words = append(words, fmt.Sprintf("%d failures", c.Failures))
	return strings.Join(words, ", ") + ": " + d.Choice
}
