package priors

import "slices"

// Cell identifies a count: the first technique tried on a pattern, or the first coder that worked on a kind of task.
// The fields of the other are empty.
type Cell struct {
	Language  string `json:"language"`
	Pattern   string `json:"pattern,omitempty"`
	Technique string `json:"technique,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Coder     string `json:"coder,omitempty"`
}

// Other is everything that is not in a list; Any is, in priors, all languages.
const (
	Other = "other"
	Any   = "any"
)

// Languages returns the languages that are distinguished.
func Languages() []string {
	return []string{"go", "python", "javascript", "typescript", "java", "rust", "c#", "c++", Other}
}

// Patterns returns the patterns of failures.
func Patterns() []string {
	return []string{"interdependent-components", "external-dependency-blocker", "wrong-tool", "unclear-instructions",
		"context-overload", "missing-example", "over-constrained", "wrong-order", "wrong-abstraction-level",
		"repeated-error", "accumulated-cruft", "unclear-specification", "missing-credentials", "environment",
		"flaky-check", "unknown"}
}

// Techniques returns the shipped techniques. A repository's own are not counted.
func Techniques() []string {
	return []string{"decomposition", "tool-change", "prompt-restructuring", "context-pruning", "example-injection",
		"constraint-relaxation", "dependency-reordering", "abstraction-level-shift", "error-pattern-recognition",
		"fresh-start"}
}

// Kinds returns the kinds of tasks.
func Kinds() []string {
	return []string{"bug", "feature", "refactoring", "tests", "docs", "chore", Other}
}

// Coders returns the models of the shipped table, by their published names.
func Coders() []string {
	return []string{"Gemini 3 Pro Preview (2025-11-18)", "Claude 4.5 Opus medium (20251101)", "Claude 4 Opus (20250514)",
		"Claude 4.5 Sonnet (20250929)", "Claude 4 Sonnet (20250514)", "GPT-5.1 (2025-11-13) (medium reasoning)",
		"GPT-5.1-codex (medium reasoning)", "GPT-5 (2025-08-07) (medium reasoning)", "DeepSeek V3.2 Reasoner",
		"GPT-5 mini (2025-08-07) (medium reasoning)", "Minimax M2", "o3 (2025-04-16)", "GLM-4.5 (2025-08-22)",
		"Devstral small (2512)", "Qwen3-Coder 480B/A35B Instruct", "GLM-4.6 (T=1)", "Devstral (2512)",
		"Gemini 2.5 Pro (2025-05-06)", "o4-mini (2025-04-16)", "Kimi K2 Instruct",
		"GPT-5 nano (2025-08-07) (medium reasoning)", "gpt-oss-120b", "Llama 4 Maverick Instruct",
		"Qwen2.5-Coder 32B Instruct", Other}
}

// Cells returns the public list in order: 1,440 cells of techniques and 1,575 of coders. It is part of the format: when
// it changes, [ReportFormat] changes.
func Cells() []Cell {
	return cells(Languages())
}

// cells returns the cells of some languages, in the order of the list.
func cells(languages []string) []Cell {
	var out []Cell
	for _, l := range languages {
		for _, p := range Patterns() {
			for _, t := range Techniques() {
				out = append(out, Cell{Language: l, Pattern: p, Technique: t})
			}
		}
	}
	for _, l := range languages {
		for _, k := range Kinds() {
			for _, c := range Coders() {
				out = append(out, Cell{Language: l, Kind: k, Coder: c})
			}
		}
	}
	return out
}

// in returns the cell for another language.
func (c Cell) in(language string) Cell {
	c.Language = language
	return c
}

// listed returns word if it is in the list, else Other.
func listed(list []string, word string) string {
	if slices.Contains(list, word) {
		return word
	}
	return Other
}
