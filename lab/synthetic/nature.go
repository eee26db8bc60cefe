package synthetic

// techniques are the world's, and the product's, in its order.
var techniques = []string{
	"decomposition", "tool-change", "prompt-restructuring", "context-pruning", "example-injection",
	"constraint-relaxation", "dependency-reordering", "abstraction-level-shift", "error-pattern-recognition",
	"fresh-start",
}

// techniqueNumbers are the techniques' places in that order.
var techniqueNumbers = func() map[string]int {
	numbers := make(map[string]int, Techniques)
	for k, name := range techniques {
		numbers[name] = k
	}
	return numbers
}()

// costs are those of an attempt with each technique, in units of the cheapest
// usual one, and personCost that of a task that no technique resolved.
var costs = [Techniques]float64{2.0, 1.2, 1.0, 0.8, 0.9, 1.0, 1.3, 1.5, 1.0, 1.8}

const personCost = 12.0

// Techniques is the number of techniques in every world.
const Techniques = 10

// MaxPatterns is the number of patterns a world can have at most.
const MaxPatterns = 16

// nature is what a pattern is like in every world, before chance is added.
type nature struct {
	name      string
	weight    float64 // relative frequency
	natural   []int   // techniques that tend to resolve it
	rule      []int   // techniques that the fixed rules try first
	neighbour int     // pattern it is most often mistaken for
}

// natures begin with the eight patterns of the reference figures; a world with
// more takes the rest in this order. Policies never see the natural techniques,
// and the tables they start from agree with them in part only.
var natures = [MaxPatterns]nature{
	{"interdependent-components", .20, []int{0, 6}, []int{0}, 1},
	{"external-dependency-blocker", .10, []int{1, 5, 6}, nil, 3},
	{"unclear-specification", .18, []int{4, 5, 2}, nil, 5},
	{"wrong-tool", .08, []int{1, 7}, []int{1}, 1},
	{"context-overload", .14, []int{3, 2, 9}, []int{2, 3}, 6},
	{"missing-example", .10, []int{4, 2}, []int{4}, 2},
	{"repeated-error", .12, []int{8, 9}, nil, 7},
	{"accumulated-cruft", .08, []int{9, 7, 0}, []int{9}, 6},
	{"unclear-instructions", .12, []int{2, 3, 4}, []int{2, 3}, 2},
	{"wrong-order", .06, []int{6, 0}, nil, 0},
	{"over-constrained", .08, []int{5, 7, 0}, nil, 11},
	{"wrong-abstraction-level", .06, []int{7, 0}, nil, 1},
	{"missing-credentials", .04, []int{7, 5}, nil, 1},
	{"environment", .06, []int{8, 1, 6}, nil, 14},
	{"flaky-check", .04, []int{8, 9}, nil, 13},
	{"unknown", .08, []int{0, 9}, nil, 6},
}

// defaultOrder is the order of the fixed rules where no rule applies.
var defaultOrder = []int{2, 8, 3, 0, 1, 4, 5, 6, 7, 9}
