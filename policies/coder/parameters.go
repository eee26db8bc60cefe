package coder

// Parameters are the parameters for choosing coders. Weights of priors are in outcomes: a prior of weight 20 counts
// like twenty outcomes. Shares are within [minShare] and [maxShare].
type Parameters struct {
	// Explore is the share of random decisions. Their probabilities decrease with an option's expected loss.
	Explore float64 `yaml:"explore" range:"0,0.5"`
	// ExploreLoss is the expected loss at which an option is e times less likely in a random decision than the best one,
	// relative to the best one's cost.
	ExploreLoss float64 `yaml:"explore_loss" range:"0.01,100"`
	// Optimism is the number of standard deviations by which a coder's ability is overestimated. Its effect fades as
	// outcomes arrive.
	Optimism float64 `yaml:"optimism" range:"0,4"`

	Share      float64 `yaml:"share" range:"0.003,0.99"`   // prior share of a coder without a table row
	PriceSlope float64 `yaml:"price_slope" range:"-5,5"`   // additional log odds of a coder at e times the usual cost
	Again      float64 `yaml:"again" range:"0.003,0.99"`   // share of tasks that a failed coder resolves when asked again
	Changed    float64 `yaml:"changed" range:"0.003,0.99"` // the same with other instructions

	WeightTable   float64 `yaml:"weight_table" range:"0.1,1e6"`   // weight of a candidate's own prior
	WeightUnknown float64 `yaml:"weight_unknown" range:"0.1,1e6"` // weight of Share, for a coder without a prior
	WeightKind    float64 `yaml:"weight_kind" range:"0.1,1e6"`    // maximum weight of other kinds of task for one kind
	WeightGlobal  float64 `yaml:"weight_global" range:"0.1,1e6"`  // maximum weight of the world for an organisation
	WeightOrg     float64 `yaml:"weight_org" range:"0.1,1e6"`     // maximum weight of an organisation for a repository
	WeightAgain   float64 `yaml:"weight_again" range:"0.1,1e6"`   // weight of Again, and of Changed
	WeightCost    float64 `yaml:"weight_cost" range:"0.1,1e6"`    // weight of a candidate's expected cost
	WeightTasks   float64 `yaml:"weight_tasks" range:"0.1,1e6"`   // weight of the prior difficulties, in tasks

	// Spread is the standard deviation of the difficulty of tasks in log odds of being resolved. The larger it is, the
	// more a failure lowers the expectation of the next coder.
	Spread   float64 `yaml:"spread" range:"0.1,10"`
	Hopeless float64 `yaml:"hopeless" range:"0,0.9"` // share of tasks that no coder resolves
	Failure  float64 `yaml:"failure" range:"0.1,10"` // cost of a failure over that of a success

	// Race is the maximum number of concurrent coders; more than one only if the best one's Chance is below RaceBelow.
	Race      int     `yaml:"race" range:"1,8"`
	RaceBelow float64 `yaml:"race_below" range:"0,1"`

	Tasks  int `yaml:"tasks" range:"1,1e6"`  // number of recent tasks whose difficulty is still revised
	Revise int `yaml:"revise" range:"0,100"` // number of earlier tasks revised per outcome
	Beam   int `yaml:"beam" range:"1,100"`   // beam width of the search for a sequence
}
