package llm

import (
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// PricesDate is when the shipped prices were last looked up.
const PricesDate = "2026-06-01"

// knownPrices are list prices in USD per million tokens, by the names of models, for who
// configures none. They are for estimates and budgets: what an account really pays is on
// its bill, and configuration overrides them. A model is left out when sources don't agree
// on its price.
//
// Sources: https://www.anthropic.com/pricing (cache reads are a tenth of the input, writes
// five quarters), https://developers.openai.com/api/docs/pricing (as tabulated in
// https://www.powershellgallery.com/packages/ShellPilot/0.3.1, effective 2026-06-01, and
// https://docs.rs/crate/tokr/latest/source/data/pricing.toml),
// https://ai.google.dev/gemini-api/docs/pricing (prompts up to 200,000 tokens; what a cache
// saves is left out), https://docs.x.ai/docs/models.
var knownPrices = map[string]Price{
	"claude-opus-4-7":   {5, 0.5, 6.25, 25},
	"claude-opus-4-6":   {5, 0.5, 6.25, 25},
	"claude-opus-4-5":   {5, 0.5, 6.25, 25},
	"claude-opus-4-1":   {15, 1.5, 18.75, 75},
	"claude-opus-4-0":   {15, 1.5, 18.75, 75},
	"claude-sonnet-4-6": {3, 0.3, 3.75, 15},
	"claude-sonnet-4-5": {3, 0.3, 3.75, 15},
	"claude-haiku-4-5":  {1, 0.1, 1.25, 5},
	"gpt-5-5":           {5, 0.5, 0, 30},
	"gpt-5-4":           {2.5, 0.25, 0, 15},
	"gpt-5-4-mini":      {0.75, 0.075, 0, 4.5},
	"gpt-5-4-nano":      {0.2, 0.02, 0, 1.25},
	"gpt-5-3-codex":     {1.75, 0.175, 0, 14},
	"gpt-5-2":           {1.75, 0.175, 0, 14},
	"gpt-5-2-codex":     {1.75, 0.175, 0, 14},
	"gpt-5":             {1.25, 0.125, 0, 10},
	"gpt-5-mini":        {0.25, 0.025, 0, 2},
	"gpt-4-1":           {2, 0.5, 0, 8},
	"gpt-4-1-mini":      {0.4, 0.1, 0, 1.6},
	"gpt-4o":            {2.5, 1.25, 0, 10},
	"gpt-4o-mini":       {0.15, 0.075, 0, 0.6},

	"gemini-3-1-pro-preview": {2, 0, 0, 12},
	"gemini-3-pro-preview":   {2, 0, 0, 12},
	"gemini-2-5-pro":         {1.25, 0, 0, 10},
	"gemini-2-5-flash":       {0.3, 0, 0, 2.5},
	"gemini-2-5-flash-lite":  {0.1, 0, 0, 0.4},
	"grok-4-0709":            {3, 0, 0, 15},
	"grok-4":                 {3, 0, 0, 15},
	"grok-4-fast":            {0.2, 0, 0, 0.5},
	"grok-4-fast-reasoning":  {0.2, 0, 0, 0.5},
}

// versionOf is the date or the version that ends a model's name.
var versionOf = lazyregexp.New(`(?:[-@:](?:\d{8}|\d{4}-\d{2}-\d{2}|latest|v\d+(?:-\d+)?))+$`)

// KnownPrice is the list price of a model by its name, whatever vendor or version stands
// around it; ok is false when it is not known.
func KnownPrice(model string) (p Price, ok bool) {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	name = strings.NewReplacer(".", "-", ":", "-").Replace(strings.TrimPrefix(name, "anthropic."))
	if p, ok = knownPrices[name]; ok {
		return p, true
	}
	p, ok = knownPrices[versionOf.ReplaceAllString(name, "")]
	return p, ok
}

// PriceSource is where a model's price is from, for people.
func PriceSource(model string, p Price) string {
	known, ok := KnownPrice(model)
	switch {
	case p == (Price{}):
		return "unknown: set price in the file of --config, or --price-input and --price-output"
	case ok && known == p:
		return "list price of " + PricesDate
	}
	return "configured"
}
