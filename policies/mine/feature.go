package mine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/policies"
)

// feature is one value of one feature of a context, with a description of the contexts that have it.
type feature struct{ name, value, where string }

// maxLabels is the number of labels that are analysed: those of the most decisions.
const maxLabels = 50

// Boundaries for numeric features. Issues have some hundred words: the boundaries leave enough of them in each part.
const (
	lowAmbiguity  = 1. / 3
	highAmbiguity = 2. / 3
	shortIssue    = 50 // words
	longIssue     = 200
	manyFailures  = 3
)

// features returns the feature values of a context. Unknown values and labels that are not common are left out.
func features(c policies.Context, common []string) []feature {
	var out []feature
	word := func(name, value, where string) {
		if value != "" {
			out = append(out, feature{name, value, fmt.Sprintf(where, value)})
		}
	}
	kind := string(c.Task.Kind)
	if kind != "" {
		out = append(out, feature{"kind", kind, "for " + kindTasks(kind)})
	}
	word("language", c.Language, "for tasks in %s")
	if kind != "" && c.Language != "" {
		out = append(out, feature{"kind and language", kind + " " + c.Language,
			"for " + kindTasks(kind) + " in " + c.Language})
	}
	word("class", c.Class, "after a failure of the class %s")
	word("pattern", c.Pattern, "for the pattern %s")
	word("part", c.Part, "for parts of the kind %s")
	for _, l := range c.Labels {
		if slices.Contains(common, l) {
			word("label", l, "for tasks labelled %q")
		}
	}
	if kind != "" { // the features of the issue are known
		out = append(out, architecture(c), ambiguity(c), size(c))
	}
	return append(out, failures(c))
}

func kindTasks(kind string) string {
	if kind == string(policies.KindOther) {
		return "tasks of no known kind"
	}
	return kind + " tasks"
}

func architecture(c policies.Context) feature {
	if c.Task.Architecture {
		return feature{"architecture", "yes", "for tasks that touch the architecture"}
	}
	return feature{"architecture", "no", "for tasks that don't touch the architecture"}
}

func ambiguity(c policies.Context) feature {
	switch a := c.Task.Ambiguity; {
	case a < lowAmbiguity:
		return feature{"ambiguity", "low", "for clear tasks"}
	case a < highAmbiguity:
		return feature{"ambiguity", "middle", "for tasks that leave something open"}
	}
	return feature{"ambiguity", "high", "for ambiguous tasks"}
}

func size(c policies.Context) feature {
	switch w := c.Task.Words; {
	case w <= shortIssue:
		return feature{"size", "short", fmt.Sprintf("for tasks of at most %d words", shortIssue)}
	case w <= longIssue:
		return feature{"size", "middle", fmt.Sprintf("for tasks of %d to %d words", shortIssue+1, longIssue)}
	}
	return feature{"size", "long", fmt.Sprintf("for tasks of more than %d words", longIssue)}
}

func failures(c policies.Context) feature {
	switch n := c.Failures; {
	case n <= 0:
		return feature{"failures", "0", "before any failure"}
	case n == 1:
		return feature{"failures", "1", "after one failure"}
	case n < manyFailures:
		return feature{"failures", "2", "after two failures"}
	}
	return feature{"failures", "3+", "after three failures or more"}
}

// commonLabels returns the labels of the most decisions, at most [maxLabels].
func commonLabels(ds []Decision) []string {
	count := map[string]int{}
	for _, d := range ds {
		for _, l := range d.Context.Labels {
			count[l]++
		}
	}
	var all []string
	for l, n := range count {
		if n >= fewest {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
	return all[:min(len(all), maxLabels)]
}
