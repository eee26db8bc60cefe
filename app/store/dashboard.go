package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// The queries of the web pages. Each is bounded and answered from an index, and each takes a [Visibility]: rows outside
// of it are not counted either.

// Find selects tasks for the search page; a zero field selects all.
type Find struct {
	Repo         int64 // GitHub's repository id
	States       []sia.State
	Temperatures []sia.Temperature
	Technique    sia.TechniqueID // of any of its attempts
	Text         string          // words of the title, in any order and case (of ASCII letters)
	From, To     time.Time       // changed at or after From, and before To
	Oldest       bool            // first those that have not changed for longest; else the most recently changed
	Skip         int
	Limit        int // at most; at least 1
}

// FindTasks lists tasks in the order of their last change.
func (s *TaskStore) FindTasks(ctx context.Context, v Visibility, f Find) ([]sia.Task, error) {
	query, args := s.findQuery(v, f)
	return list(ctx, s.DB, "find tasks", scanJSON[sia.Task], query, args...)
}

func (s *DB) findQuery(v Visibility, f Find) (query string, args []any) {
	var c conditions
	c.add(true, s.sees("repo_id"), v.args()...)
	c.add(f.Repo != 0, "repo_id = ?", f.Repo)
	c.add(len(f.States) > 0, "state "+s.inList(texts), jsonArray[sia.State](f.States))
	c.add(len(f.Temperatures) > 0, "temperature <> '' AND temperature "+s.inList(texts),
		jsonArray[sia.Temperature](f.Temperatures))
	c.add(f.Technique != "", "id IN (SELECT task_id FROM attempts WHERE technique = ?)", f.Technique)
	for _, word := range strings.Fields(f.Text) { // in a form that works on both databases
		c.add(true, "replace(lower(title), ?, '') <> lower(title)", asciiLower(word))
	}
	c.add(!f.From.IsZero(), "updated_at >= ?", micros(f.From))
	c.add(!f.To.IsZero(), "updated_at < ?", micros(f.To))
	order := "updated_at DESC"
	if f.Oldest {
		order = "updated_at"
	}
	// The rows are selected from an index; only those of the page are read.
	return `SELECT t.task FROM (SELECT id, updated_at FROM tasks
		WHERE ` + c.String() + ` ORDER BY ` + order + `, id LIMIT ? OFFSET ?) AS found
		JOIN tasks t ON t.id = found.id ORDER BY found.` + order + `, found.id`,
		append(c.args, max(1, f.Limit), max(0, f.Skip))
}

// OpenCount is the number of tasks in a state and of a temperature.
type OpenCount struct {
	State       sia.State
	Temperature sia.Temperature
	Tasks       int
}

// CountOpen counts the tasks that GitHub may still change: those that have not ended, and those that have passed and
// whose pull request is open. It reads only an index, not the tasks.
func (s *TaskStore) CountOpen(ctx context.Context, v Visibility) ([]OpenCount, error) {
	query, args := s.openQuery(v)
	return list(ctx, s.DB, "count open tasks", func(from row) (c OpenCount, err error) {
		err = from.Scan(&c.State, &c.Temperature, &c.Tasks)
		return c, err
	}, query, args...)
}

func (s *DB) openQuery(v Visibility) (query string, args []any) {
	return `SELECT state, temperature, count(*) FROM tasks WHERE temperature <> '' AND ` + s.sees("repo_id") +
		` GROUP BY temperature, state`, v.args()
}

// CountStates counts all tasks by their state.
func (s *TaskStore) CountStates(ctx context.Context) (map[sia.State]int, error) {
	out := map[sia.State]int{}
	_, err := list(ctx, s.DB, "count tasks by state", func(from row) (_ struct{}, err error) {
		var state sia.State
		var n int
		err = from.Scan(&state, &n)
		out[state] = n
		return struct{}{}, err
	}, `SELECT state, count(*) FROM tasks GROUP BY state`)
	return out, err
}

// Week has the number of tasks that ended in seven days, and the credits spent in that time.
type Week struct {
	From    time.Time   `json:"from"`
	Passed  int         `json:"passed"` // tasks
	Stopped int         `json:"stopped"`
	Spent   sia.Credits `json:"spent"` // of all tasks, ended or not
}

// Weeks returns the last n weeks up to a time, the oldest first. A task counts in the week in which
// it ended, with its last final state in that week. Tasks that were rebuilt from memory don't count,
// because their end is unknown.
func (s *TaskStore) Weeks(ctx context.Context, v Visibility, until time.Time, n int) ([]Week, error) {
	const week = 7 * 24 * time.Hour
	weeks := make([]Week, n)
	for i := range weeks {
		w := &weeks[i]
		w.From = until.Add(-time.Duration(n-i) * week)
		from, to := micros(w.From), micros(w.From.Add(week))
		err := s.r.QueryRowContext(ctx, `SELECT count(CASE WHEN last = 'passed' THEN 1 END),
				count(CASE WHEN last = 'stopped' THEN 1 END)
			FROM (SELECT to_state AS last, row_number() OVER (PARTITION BY task_id ORDER BY at DESC) AS place FROM task_events
				WHERE to_state IN ('passed', 'stopped') AND from_state <> to_state AND kind <> 'restored' AND at >= ? AND at < ?
					AND `+s.sees(s.repoOf("task_id"))+`) AS ended WHERE place = 1`, append([]any{from, to}, v.args()...)...).
			Scan(&w.Passed, &w.Stopped)
		if err == nil {
			err = s.r.QueryRowContext(ctx, `SELECT coalesce(sum(amount), 0) FROM credits
				WHERE kind IN ('spend', 'overrun') AND at >= ? AND at < ? AND `+s.sees("repo_id"),
				append([]any{from, to}, v.args()...)...).Scan(&w.Spent)
		}
		if err != nil {
			return nil, s.explain("count what ended in a week", err)
		}
	}
	return weeks, nil
}

// Cost is the cost of a repository's tasks in a period.
type Cost struct {
	Repo   int64       `json:"repo_id"`
	Period int         `json:"period"` // 0 is the first
	Spent  sia.Credits `json:"spent"`
}

// Costs returns the cost of each repository in each period between two successive times, with one query. The times
// ascend, and a period includes its start. Periods without cost are left out.
func (s *CreditStore) Costs(ctx context.Context, v Visibility, times ...time.Time) ([]Cost, error) {
	return costs(ctx, s.DB, v, times, "repo_id", "TRUE", func(from row) (c Cost, err error) {
		err = from.Scan(&c.Repo, &c.Period, &c.Spent)
		return c, err
	})
}

// TeamCost is the cost of a team's tasks in a period.
type TeamCost struct {
	Team   string
	Period int // 0 is the first
	Spent  sia.Credits
}

// TeamCosts returns the cost of each team in each period, as in [CreditStore.Costs]. Tasks without a team are left out.
func (s *CreditStore) TeamCosts(ctx context.Context, v Visibility, times ...time.Time) ([]TeamCost, error) {
	return costs(ctx, s.DB, v, times, "team", "team <> ''", func(from row) (c TeamCost, err error) {
		err = from.Scan(&c.Team, &c.Period, &c.Spent)
		return c, err
	})
}

// costs sums the spent credits by a column and by the period, in the rows that match a condition.
func costs[T any](
	ctx context.Context, s *DB, v Visibility, times []time.Time, by, condition string, scan func(row) (T, error),
) ([]T, error) {
	if len(times) < 2 {
		return nil, nil
	}
	var period strings.Builder
	var args []any
	for i, end := range times[1:] {
		fmt.Fprintf(&period, " WHEN at < ? THEN %d", i)
		args = append(args, micros(end))
	}
	query, more := s.costsQuery(v, times[0], times[len(times)-1], by, condition, period.String())
	return list(ctx, s, "sum costs by "+by, scan, query, append(args, more...)...)
}

// costsQuery takes the arguments of period before those that it returns. For one repository it reads no other's costs:
// each dashboard asks for them.
func (s *DB) costsQuery(
	v Visibility, from, to time.Time, by, condition, period string,
) (query string, args []any) {
	sees, seen := s.sees("repo_id"), v.args()
	if !v.all && len(v.repos) == 1 {
		sees, seen = "repo_id = ?", []any{v.repos[0]}
	}
	return `SELECT ` + by + `, CASE` + period + ` END AS period, sum(amount) FROM credits
		WHERE kind IN ('spend', 'overrun') AND ` + condition + ` AND at >= ? AND at < ? AND ` + sees + `
		GROUP BY 1, 2 ORDER BY 1, 2`, append([]any{micros(from), micros(to)}, seen...)
}

// SeenRepositories lists the visible repositories, by name.
func (s *InstallationStore) SeenRepositories(ctx context.Context, v Visibility) ([]Repository, error) {
	return list(ctx, s.DB, "list repositories", scanRepository,
		`SELECT `+repositoryColumns+` FROM repositories WHERE `+s.sees("id")+` ORDER BY owner, name`, v.args()...)
}

// SetupPulse returns a text that changes whenever a setup of the installation's repositories changes.
func (s *SetupStore) SetupPulse(ctx context.Context, installation int64) (string, error) {
	var repos, pending, at int64
	err := s.r.QueryRowContext(ctx, `SELECT count(*), count(CASE WHEN state = 'pending' THEN 1 END),
		coalesce(max(updated_at), 0) FROM setups WHERE installation_id = ?`, installation).Scan(&repos, &pending, &at)
	return fmt.Sprintf("%d.%d.%d", repos, pending, at), s.explain("look what changed", err)
}

// pulseQuery asks when a visible task changed last, and for the visible change of a policy that changed last. It looks
// each repository of a viewer up: their tasks may not have changed for longer than most.
func (s *DB) pulseQuery(v Visibility) (query string, args []any) {
	last := `SELECT max(updated_at) FROM tasks`
	if !v.all {
		last = `SELECT max((SELECT max(updated_at) FROM tasks WHERE repo_id = CAST(r.value AS bigint))) FROM ` +
			s.listRows() + ` AS r`
		args = append(args, v.repos)
	}
	return `SELECT coalesce(CAST((` + last + `) AS text), '') ||
		coalesce((SELECT '-' || e.n || '.' || x.comment FROM experiment_events e JOIN experiments x ON x.id = e.experiment
			WHERE ` + s.sees("x.place_id") + ` ORDER BY e.n DESC LIMIT 1), '')`, append(args, v.args()...)
}

// Pulse returns a text that changes whenever the task or its transcript changes or, with an
// empty id, whenever any visible task or change of a policy does.
func (s *TaskStore) Pulse(ctx context.Context, v Visibility, id sia.TaskID) (pulse string, err error) {
	if id == "" {
		query, args := s.pulseQuery(v)
		err = s.r.QueryRowContext(ctx, query, args...).Scan(&pulse)
	} else {
		var version, turns int64
		err = s.r.QueryRowContext(ctx, `SELECT version, (SELECT count(*) FROM transcripts WHERE task_id = ?)
			FROM tasks WHERE id = ? AND `+s.sees("repo_id"), append([]any{id, id}, v.args()...)...).Scan(&version, &turns)
		pulse = fmt.Sprintf("%d.%d", version, turns)
	}
	return pulse, s.explain("look what changed", orNotFound(err))
}
