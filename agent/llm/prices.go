package llm

import (
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// PricesDate is the date when the prices were last compared with their sources.
const PricesDate = "2026-09-07"

// knownPrices are list prices in USD per million tokens, by model name, for users that configure none. They are for
// estimates and budgets; the invoice shows the real cost. Configured prices override them. The list omits models if
// sources disagree on the price, if it changes with the hour or soon (DeepSeek's, gpt-5.6-sol, gemini-3.6-flash), or if
// it depends on the host (Groq's and other open weights).
//
// Sources: https://platform.claude.com/docs/en/about-claude/pricing (cache reads are a tenth of the input or less,
// writes five quarters; unknown cache reads are priced as input), https://developers.openai.com/api/docs/pricing,
// https://ai.google.dev/gemini-api/docs/pricing (prompts up to 200,000 tokens; cache discounts are omitted),
// https://mistral.ai/pricing/api, all as tabulated in
// https://github.com/SergeevDmitry/llm-kit/tree/main/docs/provider-data and its releases up to 2026-09-07. Later ones
// are from https://github.com/kurofune/claudit/releases/tag/v1.9.2 (read at Anthropic on 2026-10-24) and
// https://developers.openai.com/api/docs/models/gpt-6.1-sol (2026-09-30). xAI's are from https://docs.x.ai/docs/models,
// 2026-06-01.
var knownPrices = map[string]Price{
	"claude-fable-5-1":  {10, 0.25, 12.5, 50},
	"claude-fable-5":    {10, 1, 12.5, 50},
	"claude-opus-5-5":   {4, 0, 5, 20},
	"claude-opus-5":     {5, 0.5, 6.25, 25},
	"claude-opus-4-8":   {5, 0.5, 6.25, 25},
	"claude-opus-4-7":   {5, 0.5, 6.25, 25},
	"claude-opus-4-6":   {5, 0.5, 6.25, 25},
	"claude-opus-4-5":   {5, 0.5, 6.25, 25},
	"claude-opus-4-1":   {15, 1.5, 18.75, 75},
	"claude-opus-4-0":   {15, 1.5, 18.75, 75},
	"claude-opus-4":     {15, 1.5, 18.75, 75},
	"claude-sonnet-5-5": {2, 0.1, 2.5, 10},
	"claude-sonnet-5":   {2, 0.2, 2.5, 10},
	"claude-sonnet-4-6": {3, 0.3, 3.75, 15},
	"claude-sonnet-4-5": {3, 0.3, 3.75, 15},
	"claude-sonnet-4-0": {3, 0.3, 3.75, 15},
	"claude-sonnet-4":   {3, 0.3, 3.75, 15},
	"claude-haiku-4-5":  {1, 0.1, 1.25, 5},

	"gpt-6-1-sol":        {2, 0.1, 0, 10},
	"gpt-5-6-terra":      {2, 0.2, 0, 12},
	"gpt-5-6-luna":       {0.2, 0.02, 0, 1.2},
	"gpt-5-5":            {5, 0.5, 0, 30},
	"gpt-5-4":            {2.5, 0.25, 0, 15},
	"gpt-5-4-mini":       {0.75, 0.075, 0, 4.5},
	"gpt-5-4-nano":       {0.2, 0.02, 0, 1.25},
	"gpt-5-3-codex":      {1.75, 0.175, 0, 14},
	"gpt-5-2":            {1.75, 0.175, 0, 14},
	"gpt-5-2-codex":      {1.75, 0.175, 0, 14},
	"gpt-5-1":            {1.25, 0.125, 0, 10},
	"gpt-5-1-codex":      {1.25, 0.125, 0, 10},
	"gpt-5-1-codex-max":  {1.25, 0.125, 0, 10},
	"gpt-5-1-codex-mini": {0.25, 0.025, 0, 2},
	"gpt-5":              {1.25, 0.125, 0, 10},
	"gpt-5-codex":        {1.25, 0.125, 0, 10},
	"gpt-5-mini":         {0.25, 0.025, 0, 2},
	"gpt-5-nano":         {0.05, 0.005, 0, 0.4},
	"gpt-4-1":            {2, 0.5, 0, 8},
	"gpt-4-1-mini":       {0.4, 0.1, 0, 1.6},
	"gpt-4-1-nano":       {0.1, 0.025, 0, 0.4},
	"gpt-4o":             {2.5, 1.25, 0, 10},
	"gpt-4o-mini":        {0.15, 0.075, 0, 0.6},
	"o3":                 {2, 0.5, 0, 8},
	"o3-mini":            {1.1, 0.55, 0, 4.4},
	"o4-mini":            {1.1, 0.275, 0, 4.4},

	"gemini-3-5-flash":       {1.5, 0, 0, 9},
	"gemini-3-5-flash-lite":  {0.3, 0, 0, 2.5},
	"gemini-3-1-pro-preview": {2, 0, 0, 12},
	"gemini-3-pro-preview":   {2, 0, 0, 12},
	"gemini-3-flash-preview": {0.5, 0, 0, 3},
	"gemini-2-5-pro":         {1.25, 0, 0, 10},
	"gemini-2-5-flash":       {0.3, 0, 0, 2.5},
	"gemini-2-5-flash-lite":  {0.1, 0, 0, 0.4},
	"mistral-large-2512":     {0.5, 0, 0, 1.5},
	"devstral":               {0.4, 0, 0, 2},
	"devstral-2512":          {0.4, 0, 0, 2},
	"grok-4-0709":            {3, 0, 0, 15},
	"grok-4":                 {3, 0, 0, 15},
	"grok-4-fast":            {0.2, 0, 0, 0.5},
	"grok-4-fast-reasoning":  {0.2, 0, 0, 0.5},
}

// vendorPrefix matches the prefix of Amazon's names: a region, and the vendor of the model.
var vendorPrefix = lazyregexp.New(`^(?:[a-z-]+\.)?anthropic\.`)

// versionSuffix matches the date or the version at the end of a model's name.
var versionSuffix = lazyregexp.New(`(?:[-@:](?:\d{8}|\d{4}-\d{2}-\d{2}|latest|v\d+(?:-\d+)?))+$`)

// KnownPrice returns the list price of a model by its name, without vendor and version; ok is false if it is unknown.
func KnownPrice(model string) (p Price, ok bool) {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	name = strings.NewReplacer(".", "-", ":", "-").Replace(vendorPrefix.ReplaceAllString(name, ""))
	if p, ok = knownPrices[name]; ok {
		return p, true
	}
	p, ok = knownPrices[versionSuffix.ReplaceAllString(name, "")]
	return p, ok
}

// PriceSource returns the source of a model's price, for users.
func PriceSource(model string, p Price) string {
	known, ok := KnownPrice(model)
	switch {
	case !p.Known():
		return "unknown: set price in the file of --config, or --price-input and --price-output"
	case ok && known == p:
		return "list price of " + PricesDate
	}
	return "configured"
}
