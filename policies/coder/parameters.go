package coder

import "github.com/sia-bot/sia/sia/invalid"

// Parameters are all numbers by which coders are chosen. Weights of priors are in
// outcomes: a prior of weight 20 counts like twenty outcomes.
type Parameters struct {
	// Explore is the share of decisions left to chance, 0–0.5. Chance picks an option by
	// how little it is expected to lose.
	Explore float64 `yaml:"explore"`
	// ExploreLoss is the expected loss at which an option is e times less likely to be
	// chance's pick than the best one, in shares of the best one's cost, 0.01–100.
	ExploreLoss float64 `yaml:"explore_loss"`
	// Optimism is by how many standard deviations of a coder's ability it is taken for
	// better than it is known to be, 0–4. It fades by itself as outcomes come in.
	Optimism float64 `yaml:"optimism"`

	Share      float64 `yaml:"share"`       // in (0, 1): expected of a coder that no table knows
	PriceSlope float64 `yaml:"price_slope"` // -5–5: log odds by which a coder at e times the usual cost is better
	Again      float64 `yaml:"again"`       // in (0, 1): share of tasks that who failed resolves when asked again
	Changed    float64 `yaml:"changed"`     // in (0, 1): the same, asked in another way

	WeightTable   float64 `yaml:"weight_table"`   // of a candidate's own prior
	WeightUnknown float64 `yaml:"weight_unknown"` // of Share, for a coder without one
	WeightKind    float64 `yaml:"weight_kind"`    // at most: of other kinds of task to one kind
	WeightGlobal  float64 `yaml:"weight_global"`  // at most: of everybody's outcomes to an organisation
	WeightOrg     float64 `yaml:"weight_org"`     // at most: of an organisation's outcomes to a repository
	WeightAgain   float64 `yaml:"weight_again"`   // of Again, and of Changed
	WeightCost    float64 `yaml:"weight_cost"`    // of a candidate's expected cost
	WeightTasks   float64 `yaml:"weight_tasks"`   // in tasks: of the shipped distribution of difficulty

	// Spread is the standard deviation of the difficulty of tasks in log odds of being
	// resolved, 0.1–10: the larger, the more a failure says about the next coder.
	Spread   float64 `yaml:"spread"`
	Hopeless float64 `yaml:"hopeless"` // share of tasks that nobody resolves, 0–0.9
	Failure  float64 `yaml:"failure"`  // cost of a failure over that of a success, 0.1–10

	// Race is how many coders are sent at once at most, 1–8; more than one only where the best one's
	// chance is below RaceBelow, 0–1.
	Race      int     `yaml:"race"`
	RaceBelow float64 `yaml:"race_below"`

	Tasks  int `yaml:"tasks"`  // 1–1,000,000: recent tasks with a difficulty that is still revised
	Revise int `yaml:"revise"` // 0–100: earlier tasks that are looked at again with each outcome
	Beam   int `yaml:"beam"`   // 1–100: how many beginnings of a sequence are followed at once
}

// Check lists what is out of its range, each by its path in a policy file.
func (p Parameters) Check() []invalid.Problem {
	var r invalid.Ranges
	for _, f := range []struct {
		name        string
		v           float64
		least, most float64
	}{
		{"explore", p.Explore, 0, 0.5},
		{"explore_loss", p.ExploreLoss, 0.01, 100},
		{"optimism", p.Optimism, 0, 4},
		{"share", p.Share, minShare, maxShare},
		{"price_slope", p.PriceSlope, -5, 5},
		{"again", p.Again, minShare, maxShare},
		{"changed", p.Changed, minShare, maxShare},
		{"weight_table", p.WeightTable, 0.1, 1e6},
		{"weight_unknown", p.WeightUnknown, 0.1, 1e6},
		{"weight_kind", p.WeightKind, 0.1, 1e6},
		{"weight_global", p.WeightGlobal, 0.1, 1e6},
		{"weight_org", p.WeightOrg, 0.1, 1e6},
		{"weight_again", p.WeightAgain, 0.1, 1e6},
		{"weight_cost", p.WeightCost, 0.1, 1e6},
		{"weight_tasks", p.WeightTasks, 0.1, 1e6},
		{"spread", p.Spread, 0.1, 10},
		{"hopeless", p.Hopeless, 0, 0.9},
		{"failure", p.Failure, 0.1, 10},
		{"race", float64(p.Race), 1, 8},
		{"race_below", p.RaceBelow, 0, 1},
		{"tasks", float64(p.Tasks), 1, 1e6},
		{"revise", float64(p.Revise), 0, 100},
		{"beam", float64(p.Beam), 1, 100},
	} {
		r.Within("parameters."+f.name, f.v, f.least, f.most)
	}
	return r.Problems()
}
