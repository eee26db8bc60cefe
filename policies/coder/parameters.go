package coder

// Parameters are all numbers by which coders are chosen. Weights of priors are in
// outcomes: a prior of weight 20 counts like twenty outcomes. Shares stay within [minShare] and [maxShare].
type Parameters struct {
	// Explore is the share of decisions left to chance. Chance picks an option by
	// how little it is expected to lose.
	Explore float64 `yaml:"explore" range:"0,0.5"`
	// ExploreLoss is the expected loss at which an option is e times less likely to be
	// chance's pick than the best one, in shares of the best one's cost.
	ExploreLoss float64 `yaml:"explore_loss" range:"0.01,100"`
	// Optimism is by how many standard deviations of a coder's ability it is taken for
	// better than it is known to be. It fades by itself as outcomes come in.
	Optimism float64 `yaml:"optimism" range:"0,4"`

	Share      float64 `yaml:"share" range:"0.003,0.99"`   // expected of a coder that no table knows
	PriceSlope float64 `yaml:"price_slope" range:"-5,5"`   // log odds by which a coder at e times the usual cost is better
	Again      float64 `yaml:"again" range:"0.003,0.99"`   // share of tasks that who failed resolves when asked again
	Changed    float64 `yaml:"changed" range:"0.003,0.99"` // the same, asked in another way

	WeightTable   float64 `yaml:"weight_table" range:"0.1,1e6"`   // of a candidate's own prior
	WeightUnknown float64 `yaml:"weight_unknown" range:"0.1,1e6"` // of Share, for a coder without one
	WeightKind    float64 `yaml:"weight_kind" range:"0.1,1e6"`    // the most that other kinds of task count for one kind
	WeightGlobal  float64 `yaml:"weight_global" range:"0.1,1e6"`  // the most that all outcomes count for an organisation
	WeightOrg     float64 `yaml:"weight_org" range:"0.1,1e6"`     // the most that its outcomes count for a repository
	WeightAgain   float64 `yaml:"weight_again" range:"0.1,1e6"`   // of Again, and of Changed
	WeightCost    float64 `yaml:"weight_cost" range:"0.1,1e6"`    // of a candidate's expected cost
	WeightTasks   float64 `yaml:"weight_tasks" range:"0.1,1e6"`   // in tasks: of the shipped distribution of difficulty

	// Spread is the standard deviation of the difficulty of tasks in log odds of being
	// resolved: the larger, the more a failure says about the next coder.
	Spread   float64 `yaml:"spread" range:"0.1,10"`
	Hopeless float64 `yaml:"hopeless" range:"0,0.9"` // share of tasks that nobody resolves
	Failure  float64 `yaml:"failure" range:"0.1,10"` // cost of a failure over that of a success

	// Race is how many coders are sent at once at most; more than one only where the best one's
	// chance is below RaceBelow.
	Race      int     `yaml:"race" range:"1,8"`
	RaceBelow float64 `yaml:"race_below" range:"0,1"`

	Tasks  int `yaml:"tasks" range:"1,1e6"`  // recent tasks with a difficulty that is still revised
	Revise int `yaml:"revise" range:"0,100"` // earlier tasks that are looked at again with each outcome
	Beam   int `yaml:"beam" range:"1,100"`   // how many beginnings of a sequence are followed at once
}
