package llm

import "cmp"

// Price is the price of a model, in USD per million tokens. The zero Price is free.
type Price struct {
	Input       float64
	CachedInput float64 // 0: no discount, same as Input
	CacheWrite  float64 // 0: no surcharge, same as Input
	Output      float64 // reasoning included
}

// cached returns the price of tokens read from a cache.
func (p Price) cached() float64 { return cmp.Or(p.CachedInput, p.Input) }

// written returns the price of tokens written to a cache.
func (p Price) written() float64 { return cmp.Or(p.CacheWrite, p.Input) }

// Highest returns the higher of two prices in each respect.
func (p Price) Highest(q Price) Price {
	return Price{Input: max(p.Input, q.Input), CachedInput: max(p.cached(), q.cached()),
		CacheWrite: max(p.written(), q.written()), Output: max(p.Output, q.Output)}
}

// Known reports whether the price is set.
func (p Price) Known() bool { return p.Input > 0 && p.Output > 0 }

// negative reports whether any price is below 0.
func (p Price) negative() bool { return min(p.Input, p.CachedInput, p.CacheWrite, p.Output) < 0 }

// Cost returns the cost of u, in USD.
func (p Price) Cost(u Usage) float64 {
	read := min(max(0, u.CachedInput), u.Input)
	wrote := min(max(0, u.CacheWrite), u.Input-read)
	return (float64(u.Input-read-wrote)*p.Input + float64(read)*p.cached() + float64(wrote)*p.written() +
		float64(u.Output)*p.Output) / 1e6
}

// Prompt returns the maximum cost of a prompt of the given size, in USD, with or without caching.
func (p Price) Prompt(tokens int) float64 {
	return float64(tokens) * max(p.Input, p.cached(), p.written()) / 1e6
}
