package store_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// Looks lists all tasks that may change on GitHub, and no others: neither stopped ones nor those with a merged or
// closed pull request. Changed lists every task that changed, once.
func testLooks(t *testing.T, s *fixture) {
	ctx := patient(t)
	begin(t, s, 1)
	begin(t, s, 2)
	_, err := s.Apply(ctx, sia.NewTaskID(demo.ID, 2), sia.Event{ID: "pause", At: at(1), By: anna, Fact: sia.PauseAsked{}})
	must(t, err)
	_, err = s.Apply(ctx, sia.NewTaskID(demo.ID, 2), sia.Event{ID: "odd", At: at(2), By: anna,
		Fact: sia.Edited{Title: "zero \x00 byte"}})
	must(t, err)
	begin(t, s, 3)
	stopped(t, s, sia.NewTaskID(demo.ID, 3), at(4))
	for issue, pull := range []sia.Pull{4: {Number: 104, URL: "https://github.test/octo/demo/pull/104"},
		5: {Number: 105, Merged: true}, 6: {}, 7: {Number: 107, Refused: "{it} has \"merged\":true"},
		8: {Number: 108, Draft: true, Refused: "the plan has none"}} {
		if issue < 4 {
			continue
		}
		id := sia.NewTaskID(demo.ID, issue)
		_, err := s.Apply(ctx, id, sia.Event{ID: "restored", At: at(5), Fact: sia.Restored{
			Task: sia.Task{ID: id, Repo: demo, Issue: issue, State: sia.Passed, Pull: pull, IssueGone: true}}})
		must(t, err)
	}
	looks, err := s.Looks(ctx, sia.Hot, sia.Warm, sia.Cool, sia.Cold)
	must(t, err)
	all := make([]string, len(looks))
	for i, l := range looks {
		all[i] = fmt.Sprintf("%s %s", l.Task, l.Temperature)
		if task, err := s.Task(ctx, l.Task); err != nil || l.Changed.IsZero() || task.Temperature() != l.Temperature {
			t.Errorf("%+v of %s, %v", l, task.State, err)
		}
	}
	if d := cmp.Diff([]string{"7-1 hot", "7-2 warm", "7-4 cold", "7-7 cold", "7-8 cool"}, all); d != "" {
		t.Error(d)
	}
	if cold, err := s.Looks(ctx, sia.Cold); err != nil || len(cold) != 2 {
		t.Errorf("passed: %+v, %v", cold, err)
	}
	changed, err := s.Changed(ctx, at(0))
	must(t, err)
	if later, err := s.Changed(ctx, at(0).AddDate(1, 0, 0)); err != nil || len(changed) != 8 || len(later) != 0 {
		t.Errorf("changed: %v, %v, %v", changed, later, err)
	}
}

// Queries of tables that grow use an index.
func testPlans(t *testing.T, s *fixture) {
	inRepo, repoArgs := store.TasksQuery(store.Filter{Repo: 7, Open: true, Limit: 200})
	inRepoHalt, repoHaltArgs := store.TasksQuery(store.OpenIn(sia.RepositoryHalt(7)))
	inHalt, haltArgs := store.TasksQuery(store.OpenIn(sia.InstallationHalt(3)))
	inSuspension, suspensionArgs := store.TasksQuery(store.OpenIn(sia.SuspensionHalt(3)))
	inState, stateArgs := store.TasksQuery(store.Filter{State: sia.Escalated})
	waiting, waitingArgs := s.FindQuery(store.SeesOnly(7),
		store.Find{Temperatures: []sia.Temperature{sia.Warm, sia.Cool}, Limit: 20})
	ready, readyArgs := s.FindQuery(store.SeesAll(),
		store.Find{Temperatures: []sia.Temperature{sia.Cold}, Oldest: true, Limit: 20})
	open, openArgs := s.OpenQuery(store.SeesAll())
	pulse, pulseArgs := s.PulseQuery(store.SeesOnly(7))
	costs, costsArgs := s.CostsQuery(store.SeesOnly(7), at(0), at(1))
	costsIndex := "credits_repo"
	if s.Files() == nil {
		costsIndex = "repo_id = '7'" // of an empty table, PostgreSQL takes any index that has it
	}
	decided, decidedArgs := s.LastDecisionsQuery(store.SeesOnly(7), sia.DecideTechnique)
	db := storetest.Raw(t, s.url)
	for name, c := range map[string]struct {
		query, index string
		args         []any
	}{
		"ended tasks":        {store.EndedTasksQuery, "tasks_ended", []any{3, 300}},
		"looks":              {store.LooksQuery(2), "tasks_temperature", []any{"hot", "warm"}},
		"changed":            {store.ChangedQuery, "tasks_updated", []any{1}},
		"flips of a repo":    {store.FlipsQuery, "flips_counts", []any{7}},
		"all flips":          {store.AllFlipsQuery, "flips_counts", nil},
		"spent by all":       {store.SpentByAllQuery, "credits_spent", []any{1, 2}},
		"tasks of a repo":    {inRepo, "tasks_repo", repoArgs},
		"halt of a repo":     {inRepoHalt, "tasks_repo", repoHaltArgs},
		"halt of an owner":   {inHalt, "tasks_installation", haltArgs},
		"suspension":         {inSuspension, "tasks_installation", suspensionArgs},
		"tasks in a state":   {inState, "tasks_state", stateArgs},
		"tasks that wait":    {waiting, "tasks_temperature_state", waitingArgs},
		"tasks to review":    {ready, "tasks_temperature_state", readyArgs},
		"open tasks":         {open, "tasks_temperature_state", openArgs},
		"pulse":              {pulse, "tasks_repo", pulseArgs},
		"costs of a repo":    {costs, costsIndex, costsArgs},
		"last decisions":     {decided, "decisions_last", decidedArgs},
		"tasks to be pruned": {store.UnchangedQuery, "tasks_updated", []any{1, 9, 1, "7-1", 500}},
		"flips to be pruned": {`SELECT repo_id FROM flips WHERE at < ? LIMIT ?`, "flips_at", []any{1, 2}},
	} {
		if plan := s.plan(t, db, c.query, c.args); !strings.Contains(plan, c.index) {
			t.Errorf("%s: not from %s:\n%s", name, c.index, plan)
		}
	}
}

// plan returns the plan of a query. It disables sequential scans on PostgreSQL, which would use them for nearly empty
// tables.
func (s *fixture) plan(t *testing.T, db *sql.DB, query string, args []any) string {
	t.Helper()
	for _, a := range args {
		if b, is := a.(bool); is {
			a = map[bool]int{true: 1}[b]
		}
		if v, is := a.(driver.Valuer); is {
			var err error
			a, err = v.Value()
			must(t, err)
		}
		query = strings.Replace(query, "?", fmt.Sprintf("'%v'", a), 1)
	}
	ctx := context.Background()
	tx, err := db.BeginTx(ctx, nil)
	must(t, err)
	defer tx.Rollback()
	explain := "EXPLAIN QUERY PLAN "
	if s.Files() == nil {
		_, err := tx.ExecContext(ctx, `SET LOCAL enable_seqscan = off`)
		must(t, err)
		explain = "EXPLAIN "
	}
	rows, err := tx.QueryContext(ctx, explain+query)
	must(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	must(t, err)
	var lines []string
	for rows.Next() {
		line := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range line {
			into[i] = &line[i]
		}
		must(t, rows.Scan(into...))
		lines = append(lines, line[len(line)-1].String)
	}
	must(t, rows.Err())
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
