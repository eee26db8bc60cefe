package synthetic

import (
	"context"
	"fmt"
)

// Subject is one method that learns or judges policies, with its figures.
type Subject struct {
	Name    string   `json:"name"`
	Figures []Figure `json:"figures"`
}

// Policies measures how coordination policies are learned and judged: the log is mined,
// candidates are ranked, changes pass a gate, an experiment and a guardrail. Each figure is
// measured in so many worlds, and the slowest ones in fewer. A figure without
// data in these worlds is left out. The same seed and number give the same figures on any
// number of cores.
func Policies(ctx context.Context, seed uint64, worlds int) ([]Subject, error) {
	if worlds < 1 {
		return nil, fmt.Errorf("figures are measured in at least one world, not %d", worlds)
	}
	m := measure{seed, worlds}
	var out []Subject
	for _, subject := range []struct {
		name    string
		figures func(context.Context) ([]Figure, error)
	}{
		{"techniques on trial", m.trials},
		{"mining", m.mining},
		{"off-policy ranking", m.ranking},
		{"replay gate", m.gates},
		{"experiment", m.experiments},
		{"guardrail", m.guardrails},
	} {
		figures, err := subject.figures(ctx)
		if err != nil {
			return nil, fmt.Errorf("measure the %s: %w", subject.name, err)
		}
		out = append(out, Subject{subject.name, figures})
	}
	return out, nil
}
