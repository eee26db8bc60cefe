package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Tally counts how often something was tried and resolved the problem, and its cost.
type Tally struct {
	Name     string      `json:"name"`           // of a technique, a coder or a pattern
	Kind     string      `json:"kind,omitempty"` // of task, as package policies names it; empty: all of them
	Tried    int         `json:"tried"`
	Resolved int         `json:"resolved"`
	Cost     sia.Credits `json:"cost,omitempty"` // of all tries; 0 where costs are not recorded separately
}

func scanTally(from row) (t Tally, err error) {
	err = from.Scan(&t.Name, &t.Kind, &t.Tried, &t.Resolved, &t.Cost)
	return t, err
}

// maxTallies limits the lists below: the number of user-defined techniques and of models' patterns is unbounded.
const maxTallies = 100

// TechniqueTallies returns the tally of each technique in one repository or, with 0, in all visible
// ones, by the number of tries, descending.
func (s *DecisionStore) TechniqueTallies(ctx context.Context, v Visibility, repo int64) ([]Tally, error) {
	return list(ctx, s.DB, "count the outcomes of techniques", scanTally, `
		SELECT technique, '', count(*) AS tried, sum(resolved), 0 FROM outcomes
		WHERE (? = 0 OR repo_id = ?) AND `+s.sees("repo_id")+` GROUP BY technique ORDER BY tried DESC, technique LIMIT ?`,
		append(append([]any{repo, repo}, v.args()...), maxTallies)...)
}

// CoderTallies returns the same for coders.
func (s *DecisionStore) CoderTallies(ctx context.Context, v Visibility, repo int64) ([]Tally, error) {
	return s.coderTallies(ctx, v, repo, `''`)
}

// CoderKindTallies returns the same for coders at each kind of task, by kind.
func (s *DecisionStore) CoderKindTallies(ctx context.Context, v Visibility, repo int64) ([]Tally, error) {
	all, err := s.coderTallies(ctx, v, repo, "kind")
	slices.SortStableFunc(all, func(a, b Tally) int { return cmp.Compare(a.Kind, b.Kind) })
	return all, err
}

func (s *DecisionStore) coderTallies(ctx context.Context, v Visibility, repo int64, kind string) ([]Tally, error) {
	return list(ctx, s.DB, "count the outcomes of coders", scanTally, `
		SELECT coder, `+kind+`, count(*), sum(resolved), sum(cost) FROM coder_outcomes
		WHERE (? = 0 OR repo_id = ?) AND `+s.sees("repo_id")+` GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT ?`,
		append(append([]any{repo, repo}, v.args()...), maxTallies)...)
}

// PatternTally counts the interventions against a failure pattern, and their results.
type PatternTally struct {
	Pattern  sia.Pattern     `json:"pattern"`
	Lately   int             `json:"lately"` // interventions at or after a time
	Before   int             `json:"before"` // interventions before it
	Resolved int             `json:"resolved"`
	Best     sia.TechniqueID `json:"best,omitempty"` // the technique that resolved it most often; empty: none did
	BestOf   int             `json:"best_tried"`     // number of tries of Best
	BestDid  int             `json:"best_resolved"`
}

// PatternTallies counts the interventions with a known outcome against each failure pattern in the
// visible repositories, by the recent number, descending.
func (s *DecisionStore) PatternTallies(
	ctx context.Context, v Visibility, repo int64, lately time.Time,
) ([]PatternTally, error) {
	return list(ctx, s.DB, "count patterns of failure", func(from row) (p PatternTally, err error) {
		err = from.Scan(&p.Pattern, &p.Lately, &p.Before, &p.Resolved, &p.Best, &p.BestOf, &p.BestDid)
		return p, err
	}, `WITH each AS (SELECT pattern, technique, count(*) AS tried, sum(resolved) AS resolved,
				count(CASE WHEN at >= ? THEN 1 END) AS lately FROM outcomes
			WHERE (? = 0 OR repo_id = ?) AND `+s.sees("repo_id")+` GROUP BY pattern, technique),
		ranked AS (SELECT *, row_number() OVER (PARTITION BY pattern ORDER BY resolved DESC, tried, technique) AS place
			FROM each)
		SELECT pattern, sum(lately) AS now, sum(tried) - sum(lately), sum(resolved),
			max(CASE WHEN place = 1 AND resolved > 0 THEN technique ELSE '' END),
			max(CASE WHEN place = 1 AND resolved > 0 THEN tried ELSE 0 END),
			max(CASE WHEN place = 1 THEN resolved ELSE 0 END)
		FROM ranked GROUP BY pattern ORDER BY now DESC, sum(tried) DESC, pattern LIMIT ?`,
		append(append([]any{micros(lately), repo, repo}, v.args()...), maxTallies)...)
}

// LastDecisions lists the last visible decisions of a type, the newest first.
func (s *DecisionStore) LastDecisions(
	ctx context.Context, v Visibility, repo int64, typ sia.DecisionType, limit int,
) ([]sia.Decision, error) {
	query, args := s.lastDecisionsQuery(v, repo, typ, limit)
	return list(ctx, s.DB, "load the last decisions of type "+string(typ), scanDecision, query, args...)
}

func (s *DB) lastDecisionsQuery(
	v Visibility, repo int64, typ sia.DecisionType, limit int,
) (query string, args []any) {
	// The rows are selected from an index; only those of the list are read.
	return `SELECT ` + decisionColumns + ` FROM decisions WHERE n IN (SELECT n FROM decisions
			WHERE type = ? AND (? = 0 OR repo_id = ?) AND ` + s.sees("repo_id") + ` ORDER BY at DESC, n DESC LIMIT ?)
		ORDER BY at DESC, n DESC`, append(append([]any{typ, repo, repo}, v.args()...), limit)
}
