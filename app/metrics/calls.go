package metrics

import (
	"cmp"
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sia-bot/sia/agent/llm"
)

// Calls counts model calls. It is safe for concurrent use.
type Calls struct {
	calls  *prometheus.CounterVec
	tokens *prometheus.CounterVec
	took   *prometheus.HistogramVec
}

// NewCalls returns counters with the value 0.
func NewCalls() *Calls {
	return &Calls{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sia_model_calls_total",
			Help: "Calls of models that ended, with their retries: answered, ended by who asked, or by kind of error."},
			[]string{"model", "outcome"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sia_model_tokens_total",
			Help: "Tokens by model: input that was not cached, input read from a cache and written to one, and output.",
		}, []string{"model", "kind"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sia_model_call_seconds",
			Help: "How long calls took, with their retries.", Buckets: []float64{1, 2, 5, 10, 20, 40, 80, 160, 320, 640}},
			[]string{"model"}),
	}
}

// Ended counts a call; it is for [llm.Config].
func (c *Calls) Ended(_ context.Context, call llm.Call) {
	outcome := cmp.Or(string(call.Failed), "answered")
	if call.Ended {
		outcome = "ended"
	}
	c.calls.WithLabelValues(call.Client, outcome).Inc()
	c.took.WithLabelValues(call.Client).Observe(call.Took.Seconds())
	for kind, n := range map[string]int{"input": call.Usage.Input - call.Usage.CachedInput - call.Usage.CacheWrite,
		"cached": call.Usage.CachedInput, "cache_write": call.Usage.CacheWrite, "output": call.Usage.Output} {
		c.tokens.WithLabelValues(call.Client, kind).Add(float64(max(0, n))) // an endpoint may report wrong numbers
	}
}
