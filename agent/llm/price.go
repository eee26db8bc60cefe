package llm

import "cmp"

// Price is what a model costs, in USD per million tokens. The zero Price is free.
type Price struct {
	Input       float64
	CachedInput float64 // 0: no discount, cached tokens cost Input
	CacheWrite  float64 // 0: no surcharge, tokens that are written to a cache cost Input
	Output      float64 // reasoning included
}

// cached is the price of a token that was read from a cache.
func (p Price) cached() float64 { return cmp.Or(p.CachedInput, p.Input) }

// written is the price of a token that was written to a cache.
func (p Price) written() float64 { return cmp.Or(p.CacheWrite, p.Input) }

// Highest is the greater of two prices in each respect.
func (p Price) Highest(q Price) Price {
	return Price{Input: max(p.Input, q.Input), CachedInput: max(p.cached(), q.cached()),
		CacheWrite: max(p.written(), q.written()), Output: max(p.Output, q.Output)}
}

// Known reports whether an answer has a cost.
func (p Price) Known() bool { return p.Input > 0 && p.Output > 0 }

// negative reports whether any of the prices is below 0.
func (p Price) negative() bool { return min(p.Input, p.CachedInput, p.CacheWrite, p.Output) < 0 }

// Cost is what u costs, in USD.
func (p Price) Cost(u Usage) float64 {
	read := min(max(0, u.CachedInput), u.Input)
	wrote := min(max(0, u.CacheWrite), u.Input-read)
	return (float64(u.Input-read-wrote)*p.Input + float64(read)*p.cached() + float64(wrote)*p.written() +
		float64(u.Output)*p.Output) / 1e6
}

// Prompt is the most that a prompt of so many tokens can cost, in USD, whatever of it is
// cached.
func (p Price) Prompt(tokens int) float64 {
	return float64(tokens) * max(p.Input, p.cached(), p.written()) / 1e6
}
