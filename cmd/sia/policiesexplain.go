package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/sia"
)

type policiesExplainCmd struct {
	openedDatabase `embed:""`
	What           string `arg:"" optional:"" help:"A task, by its id or as owner/name#issue; or a change of a policy, by its id or by the policy's name; default: every change."`
}

// explainedDecision is a decision with its basis, as JSON.
type explainedDecision struct {
	sia.Decision
	Holds    string   `json:"holds,omitempty"` // the policy's selector in words; empty: its text was not kept
	Mattered []string `json:"mattered"`        // relevant values of the context, in words
}

// Run prints the decisions of a task with their policies, or the history of changes of policies.
func (c *policiesExplainCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		if known, err := explainExperiments(e, s, c.What, c.Output == "json"); known || err != nil {
			return err
		}
		t, err := findTask(e, s, c.What)
		if err != nil {
			return fmt.Errorf("%w; nor is there such a change of a policy, or a policy of that name that was changed", err)
		}
		all, err := explainedDecisions(e, s, t.ID)
		if err != nil {
			return err
		}
		if c.Output == "json" {
			return e.JSON(all)
		}
		if len(all) == 0 {
			return e.Sayf("nothing was decided about this task yet\n")
		}
		for _, x := range all {
			explainDecision(e, x)
		}
		return nil
	})
}

// explainedDecisions returns the decisions of a task with their policies, if those were kept.
func explainedDecisions(e *cli.Env, s *store.Store, id sia.TaskID) ([]explainedDecision, error) {
	ds, err := s.Decisions(e.Ctx, id)
	if err != nil {
		return nil, err
	}
	all := make([]explainedDecision, len(ds))
	for i, d := range ds {
		var p policies.Policy
		source, err := s.PolicyVersion(e.Ctx, d.Policy)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if err == nil {
			if p, err = policies.Parse(d.Policy, []byte(source)); err == nil { // otherwise an older SIA wrote it
				all[i].Holds = p.Selector.String()
			}
		}
		all[i].Decision, all[i].Mattered = d, relevantValues(d, p)
	}
	return all, nil
}

// worth is the field with the value of a solved task in credits; 0: no limit.
const worth = "request.Value"

// contextFields lists the values of the context that decisions of each type depend on: the field in the log, and its
// name for users.
var contextFields = map[sia.DecisionType][][2]string{
	sia.DecideDecompose: {{"task.kind", "kind"}, {"task.complexity", "complexity"}, {"task.words", "words"},
		{"task.code_refs", "code references"}, {"task.demands", "demands"}, {"task.order", "words of order"},
		{"task.architecture", "architecture"}, {"steps", "steps"}, {"checkable", "can be checked here"}},
	sia.DecideAssign: {{"task.kind", "kind"}, {"part", "part"}, {"wanted", "asked for"},
		{"request.Failed", "failed already"}, {worth, "value in credits"}, {"request.Left", "credits left"}},
	sia.DecideRecover: {{"part", "part"}, {"tries", "failed runs"}, {"racers", "racers left"}, {"class", "class"},
		{"failures", "failures"}, {"in_a_row", "in a row"}, {"patience", "patience"}, {"coders", "coders"},
		{"failed", "coders that failed"}},
	sia.DecideEscalate: {{"task.ambiguity", "ambiguity"}, {"failures", "failures"}, {"task.architecture", "architecture"},
		{"alone.tried", "such tasks"}, {"alone.passed", "of them passed"}, {"helped.tried", "such tasks with an answer"},
		{"helped.passed", "of them passed with it"}},
	sia.DecideTechnique: {{"pattern", "pattern"}, {"pick", "diagnosis picked"}, {"wanted", "asked for"}, {"used", "used"},
		{"refused", "refused"}, {"left", "approaches left"}, {"learned", "outcomes learned from"}},
	sia.DecideRerun: {{"checks", "checks"}, {"good", "right"}, {"flake", "by accident"}, {"chance", "right although red"},
		{"cost", "cost"}},
	sia.DecideInterrupt: {{"risk.streak", "calls alike"}, {"risk.same", "same error"}, {"risk.idle", "idle"},
		{"risk.spent", "spent"}, {"risk.chance", "chance"}, {"risk.limit", "limit"}},
}

// conditions maps the conditions of selectors to fields in the log.
var conditions = map[string]string{"language": "language", "labels": "labels", "kind": "task.kind", "class": "class",
	"pattern": "pattern", "part": "part", "repository": "repository", "owner": "owner", "size": "task.words",
	"failures": "failures"}

// relevantValues returns the values that a decision depended on, in words: those for its type, and those that the
// policy's selector, rules and triggers name.
func relevantValues(d sia.Decision, p policies.Policy) []string {
	var context map[string]any
	if json.Unmarshal(d.Context, &context) != nil {
		return []string{}
	}
	wanted := slices.Clone(contextFields[d.Type])
	selectors := append([]policies.Selector{p.Selector}, p.Escalate().Rules.Triggers...)
	for _, r := range p.Recover().Rules {
		selectors = append(selectors, r.When)
	}
	for _, s := range selectors {
		for _, name := range conditionNames(s) {
			if !slices.ContainsFunc(wanted, func(w [2]string) bool { return w[0] == conditions[name] }) {
				wanted = append(wanted, [2]string{conditions[name], name})
			}
		}
	}
	out := []string{}
	for _, w := range wanted {
		v := valueAt(context, w[0])
		if w[0] == worth && v == "0" {
			v = "whatever it costs"
		}
		if v != "" {
			out = append(out, w[1]+" "+v)
		}
	}
	return out
}

// conditionNames returns the names of the conditions that a selector sets, sorted.
func conditionNames(s policies.Selector) []string {
	var set map[string]any
	b, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(b, &set)
	}
	if err != nil {
		return nil // does not happen: a selector holds words and numbers
	}
	return slices.Sorted(maps.Keys(set))
}

// valueAt returns a value of a context in words; "" if it is missing or empty.
func valueAt(context map[string]any, path string) string {
	var v any = context
	for _, key := range strings.Split(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = m[key]
	}
	switch v := v.(type) {
	case float64:
		return fmt.Sprintf("%.4g", v)
	case bool:
		return map[bool]string{true: "yes"}[v]
	case string:
		return v
	case []any:
		words := make([]string, len(v))
		for i, w := range v {
			words[i] = fmt.Sprint(w)
		}
		return strings.Join(words, ", ")
	}
	return ""
}

// explainDecision prints one choice and, below it, its basis, its options and its result.
func explainDecision(e *cli.Env, x explainedDecision) {
	words := render.ChoiceWords(x.Decision)
	if words != "" {
		words = " (" + words + ")"
	}
	explainLine(e, x.At, string(x.Type), fmt.Sprintf("attempt %d", x.Attempt), cli.Styled(cli.Sprintf(
		"%s%s, with probability %.2f: %s", e.Style.Bold(chosenText(x.Choice)), words, x.Propensity, x.Reason)))
	holds := "its text was not kept"
	if x.Holds != "" {
		holds = "for " + x.Holds
	}
	e.Linef("    policy: %s, %s", x.Policy, holds)
	if len(x.Mattered) > 0 {
		e.Linef("    context: %s", strings.Join(x.Mattered, "; "))
	}
	switch x.Type {
	case sia.DecideTechnique:
		explainOptions(e, x.Decision)
	case sia.DecideAssign:
		explainCoders(e, x.Options)
	default:
		explainTerms(e, x.Options)
	}
	if x.Outcome != "" {
		e.Linef("    outcome: %s (%+.2f against what was to be expected)", x.Outcome, x.Credit)
	}
}

// chosenText returns a choice for users. An empty choice means nobody.
func chosenText(choice string) string { return cmp.Or(choice, "nobody") }

// explainTerms prints the options of a decision by rules; options without a score by name only.
func explainTerms(e *cli.Env, options json.RawMessage) {
	var names []string
	if json.Unmarshal(options, &names) == nil {
		if len(names) > 0 {
			e.Linef("    options: %s", strings.Join(names, ", "))
		}
		return
	}
	var scored []policies.Option
	if json.Unmarshal(options, &scored) != nil || len(scored) == 0 {
		return
	}
	w := cli.NewTable(e.Out, "    OPTION", "SCORE", "TERMS")
	for _, o := range scored {
		terms := make([]string, len(o.Terms))
		for i, t := range o.Terms {
			terms[i] = fmt.Sprintf("%s %+.2f", t.What, t.Value)
		}
		w.Rowf("    %s\t%.2f\t%s", o.Choice, o.Score, strings.Join(terms, ", "))
	}
	_ = w.Flush() // the same writer has already reported its error
}

// explainCoders prints the coders that could have been chosen.
func explainCoders(e *cli.Env, options json.RawMessage) {
	var coders []coder.Option
	if json.Unmarshal(options, &coders) != nil || len(coders) == 0 {
		return
	}
	w := cli.NewTable(e.Out, "    OPTION", "CHANCE", "CREDITS", "CREDITS FOR A SUCCESS", "WORTH IT", "PROBABILITY")
	for _, o := range coders {
		worthIt := "no"
		if o.Worth {
			worthIt = "yes"
		}
		name := o.Coder
		if o.Races {
			name += ", at once"
		}
		chance, index := "–", "–" // a single coder is not evaluated
		if o.Chance > 0 {
			chance, index = fmt.Sprintf("%.0f %%", 100*o.Chance), fmt.Sprintf("%.3g", o.Index)
		}
		w.Rowf("    %s\t%s\t%.3g\t%s\t%s\t%.3f", name, chance, o.Cost, index, worthIt, o.Propensity)
	}
	_ = w.Flush() // as above
}
