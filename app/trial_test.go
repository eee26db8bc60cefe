package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
)

// lab is a stage for trials of policy changes.
type lab struct {
	*apptest.Stage
	t *testing.T
}

// change returns the only change, with its present state.
func (l lab) change() store.Experiment {
	l.t.Helper()
	all, err := l.App.Store.Experiments(l.t.Context(), 0, false)
	check(l.t, err)
	if len(all) != 1 {
		l.t.Fatalf("there are %d changes", len(all))
	}
	return all[0]
}

// addOwnPolicy adds a policy file to the repository.
func (l lab) addOwnPolicy(file, source string) {
	l.t.Helper()
	_, err := l.Sim.PushFiles(apptest.Repo, "main", apptest.Owner, "Ours", map[string]string{file: source})
	check(l.t, err)
	l.Settle()
	r, err := l.Sim.Repo(apptest.Repo)
	check(l.t, err)
	p, err := policies.Parse(file, []byte(source))
	check(l.t, err)
	check(l.t, l.App.Store.SavePolicies(l.t.Context(), r.ID, store.PolicyRead{SHA: p.Hash()},
		[]store.PolicyFile{{Path: file, Version: p.ID(), Source: source}}))
}

// propose makes a user propose that fewer tasks are divided, and returns the change.
func (l lab) propose() store.Experiment {
	l.t.Helper()
	r, err := l.Sim.Repo(apptest.Repo)
	check(l.t, err)
	_, err = l.App.Evolver.Propose(l.t.Context(), l.Install, sia.Repo{ID: r.ID, Owner: apptest.Owner, Name: apptest.Name},
		"decompose", policies.Mutation{Path: "parameters.threshold", Value: "0.95", Reason: "Divide less, @everyone."},
		"@"+apptest.Owner)
	check(l.t, err)
	return l.change()
}

// comment returns SIA's comment on the pull request of a change.
func (l lab) comment(x store.Experiment) string {
	l.t.Helper()
	pull, err := l.Sim.Issue(x.Place.String(), x.Pull)
	check(l.t, err)
	if len(pull.Comments) != 1 {
		l.t.Fatalf("the pull request has %d comments", len(pull.Comments))
	}
	return pull.Comments[0].Body
}

// lastEvent returns the last event of a change.
func (l lab) lastEvent(x store.Experiment) string {
	l.t.Helper()
	all, err := l.App.Store.ExperimentEvents(l.t.Context(), x.ID)
	check(l.t, err)
	return all[len(all)-1].What
}

// approve adds a user's 👍 to that comment, and makes SIA look.
func (l lab) approve(x store.Experiment, who string) store.Experiment {
	l.t.Helper()
	check(l.t, l.Sim.React(x.Place.String(), x.Pull, x.Comment, who, "+1"))
	l.Periodic("trials")
	return l.change()
}

// outcomes adds n tasks to an experiment; resolved reports whether each is resolved.
func (l lab) outcomes(x store.Experiment, n int, after bool, resolved func(i int, candidate bool) bool) {
	l.t.Helper()
	l.settle(x, n, after, func(i int, row *evolve.Task) {
		if row.Came = evolve.Failed; resolved(i, row.Candidate) {
			row.Came = evolve.Resolved
		}
	})
}

// settle adds n tasks to an experiment; came sets the result of each.
func (l lab) settle(x store.Experiment, n int, after bool, came func(i int, row *evolve.Task)) {
	l.t.Helper()
	var rows []store.ExperimentTask
	for i := range n {
		row := store.ExperimentTask{ID: sia.TaskID(fmt.Sprintf("9-%d%v", i, after)),
			Task: evolve.Task{After: after, At: l.Clock.Now()}}
		row.Candidate = evolve.Assign(x.ID, string(row.ID))
		if after {
			row.Candidate = !evolve.HeldBack(x.ID, string(row.ID), i)
		}
		_, err := l.App.Store.Enrol(l.t.Context(), x.ID, row)
		check(l.t, err)
		came(i, &row.Task)
		rows = append(rows, row)
	}
	check(l.t, l.App.Store.SettleExperimentTasks(l.t.Context(), x.ID, rows))
}

// decidedBy returns the policy that made a decision of a type about a task.
func (l lab) decidedBy(issue int, typ sia.DecisionType) string {
	l.t.Helper()
	ds, err := l.App.Store.Decisions(l.t.Context(), l.Task(issue).ID)
	check(l.t, err)
	for _, d := range ds {
		if d.Type == typ {
			return d.Policy
		}
	}
	task := l.Task(issue)
	l.t.Fatalf("nothing of type %s was decided about #%d, which is %s (%s%s)",
		typ, issue, task.State, task.Ended, fmt.Sprintf("%+v", task.Pause))
	return ""
}

func contains(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
}

// A change of a policy, from its proposal to its rollback: on GitHub, and in the decisions about tasks.
func TestChangeOfAPolicy(t *testing.T) {
	t.Parallel()
	l := lab{shop(t, "pass"), t}
	l.Sim.CreateUser("stranger")
	check(t, l.Sim.SetPermission(apptest.Repo, "stranger", "read"))
	x := l.propose()
	if x.Phase != store.ExperimentProposed || x.Place.String() != apptest.Repo || !x.Alone ||
		x.File != ".sia/policies/decompose.yml" {
		t.Fatalf("%+v", x)
	}
	pull, err := l.Sim.Issue(apptest.Repo, x.Pull)
	check(t, err)
	contains(t, pull.Body, "-  threshold: 0.75", "+  threshold: 0.95",
		"Put a 👍 on SIA's comment below", "@\u200beveryone", "@"+apptest.Owner+" proposes it")
	contains(t, l.comment(x), "Shall this be tried?")
	for i := range 25 { // more than one look checks
		name := fmt.Sprint("stranger", i)
		l.Sim.CreateUser(name)
		check(t, l.Sim.SetPermission(apptest.Repo, name, "read"))
		check(t, l.Sim.React(apptest.Repo, x.Pull, x.Comment, name, "+1"))
	}
	if x = l.approve(x, "stranger"); x.Phase != store.ExperimentProposed {
		t.Fatalf("a stranger's 👍 had it tried: %s", x.Phase)
	}
	if x = l.approve(x, apptest.Owner); x.Phase != store.ExperimentRunning || x.ApprovedBy != apptest.Owner {
		t.Fatalf("%s: %s", x.Phase, x.Why)
	}
	contains(t, l.comment(x), "Being tried on half")

	// Decisions about a task follow its assignment.
	l.Clock.Jump(l.Clock.Now().Add(time.Minute))
	first := resolve(t, l.Stage, "Greet the customers")
	want := x.Present
	if evolve.Assign(x.ID, string(l.Task(first).ID)) {
		want = x.Candidate
	}
	if by := l.decidedBy(first, sia.DecideDecompose); by != want {
		t.Errorf("#%d was decided about by %s, want %s", first, by, want)
	}
	rows, err := l.App.Store.ExperimentTasks(t.Context(), x.ID)
	check(t, err)
	if len(rows) != 1 || rows[0].ID != l.Task(first).ID {
		t.Errorf("%+v take part", rows)
	}

	l.outcomes(x, 80, false, func(i int, candidate bool) bool { return candidate || i%2 == 0 })
	l.Periodic("trials")
	if x = l.change(); x.Phase != store.ExperimentPromoted {
		t.Fatalf("%s: %s; #%d is %s; %s", x.Phase, x.Why, first, l.Task(first).State, l.comment(x))
	}
	contains(t, l.comment(x), "In force, and watched")
	file, err := l.Sim.File(apptest.Repo, "main", x.File)
	check(t, err)
	contains(t, file, "threshold: 0.95", "version: 2")
	l.Settle()

	l.Clock.Jump(l.Clock.Now().Add(time.Minute))
	second := resolve(t, l.Stage, "Greet the customers again")
	want = x.Candidate
	if evolve.HeldBack(x.ID, string(l.Task(second).ID), 0) {
		want = x.Present
	}
	if by := l.decidedBy(second, sia.DecideDecompose); by != want {
		t.Errorf("#%d was decided about by %s, want %s", second, by, want)
	}

	// Results get worse: the previous version decides at once, and its file is restored.
	l.outcomes(x, 120, true, func(_ int, candidate bool) bool { return !candidate })
	l.Periodic("trials")
	if x = l.change(); x.Phase != store.ExperimentRolledBack {
		t.Fatalf("%s: %s", x.Phase, x.Why)
	}
	contains(t, l.comment(x), "Taken back", "resolved fell")
	l.Settle()
	if files, err := l.Sim.Files(apptest.Repo, "main"); err != nil || slices.Contains(files, x.File) {
		t.Errorf("the file is still there: %v %v", files, err)
	}
	l.Clock.Jump(l.Clock.Now().Add(time.Minute))
	third := resolve(t, l.Stage, "Greet the customers once more")
	if by := l.decidedBy(third, sia.DecideDecompose); by != x.Present {
		t.Errorf("#%d was decided about by %s, want %s", third, by, x.Present)
	}
	r, err := l.Sim.Repo(apptest.Repo)
	check(t, err)
	if _, err := l.App.Evolver.Propose(t.Context(), l.Install,
		sia.Repo{ID: r.ID, Owner: apptest.Owner, Name: apptest.Name}, "decompose",
		policies.Mutation{Path: "parameters.threshold", Value: "0.5", Reason: "r"}, "@ann"); err == nil ||
		!strings.Contains(err.Error(), "frozen until") {
		t.Errorf("it is not frozen: %v", err)
	}
}

// A change with too many escalations is rolled back, even if everybody's tasks fail by now.
func TestAlarmOfTheChangeBesideEveryonesAlarm(t *testing.T) {
	t.Parallel()
	l := lab{shop(t, "pass"), t}
	x := l.approve(l.propose(), apptest.Owner)
	l.outcomes(x, 80, false, func(i int, candidate bool) bool { return candidate || i%2 == 0 })
	l.Periodic("trials")
	l.settle(x, 120, true, func(_ int, row *evolve.Task) { row.Came, row.Escalated = evolve.Failed, row.Candidate })
	l.Periodic("trials")
	if x = l.change(); x.Phase != store.ExperimentRolledBack || !strings.Contains(x.Why, "without asking a person fell") {
		t.Errorf("%s: %s", x.Phase, x.Why)
	}
}

const ownDecompose = "decision: decompose\nname: decompose\nversion: 1\nparameters: {threshold: 0.7}\n"

// A policy is changed in its present file, regardless of the file's name.
func TestPolicyInAFileOfAnotherName(t *testing.T) {
	t.Parallel()
	l := lab{shop(t, "pass"), t}
	l.addOwnPolicy(".sia/policies/our-own.yaml", ownDecompose)
	x := l.propose()
	if file, err := l.Sim.File(apptest.Repo, "sia/policy-"+x.ID, ".sia/policies/our-own.yaml"); err != nil ||
		x.Phase != store.ExperimentProposed || !strings.Contains(file, "threshold: 0.95") {
		t.Errorf("%s: %s: %v\n%s", x.Phase, x.Why, err, file)
	}
}

// A change can be rolled back even if its file is restored already: by hand, or by a pull request that was merged
// before SIA recorded it.
func TestFileThatIsBackAlready(t *testing.T) {
	t.Parallel()
	l := lab{shop(t, "pass"), t}
	l.addOwnPolicy(".sia/policies/decompose.yml", ownDecompose)
	x := l.propose()
	_, err := l.Sim.MergePull(apptest.Repo, x.Pull, apptest.Owner)
	check(t, err)
	l.Periodic("trials")
	l.addOwnPolicy(x.File, ownDecompose)
	if x, err = l.App.Evolver.Rollback(t.Context(), x.ID, "@ann"); err != nil || x.Phase != store.ExperimentRolledBack {
		t.Fatalf("its file was put back by hand: %s, %v", x.Phase, err)
	}
	contains(t, l.lastEvent(x), "its file is back already")

	merged := lab{shop(t, "pass"), t}
	x = merged.propose()
	_, err = merged.Sim.MergePull(apptest.Repo, x.Pull, apptest.Owner)
	check(t, err)
	merged.Periodic("trials")
	x, err = merged.App.Evolver.Rollback(t.Context(), x.ID, "@ann")
	check(t, err)
	back := merged.lastEvent(x)
	contains(t, back, "its file was put back by http")
	x.Phase, x.EndedAt = store.ExperimentReverting, time.Time{} // as if SIA had been stopped in between
	check(t, merged.App.Store.SaveExperiment(t.Context(), store.ExperimentRolledBack, x, "stopped"))
	merged.Periodic("trials")
	if x = merged.change(); x.Phase != store.ExperimentRolledBack || merged.lastEvent(x) != back {
		t.Errorf("its pull request was merged: %s: %s", x.Phase, merged.lastEvent(x))
	}
}

// A rollback keeps existing holds: a longer freeze, and the suppression of a later change that was rolled back before
// and is still in the file.
func TestRollbackKeepsWhatHolds(t *testing.T) {
	t.Parallel()
	l := lab{shop(t, "pass"), t}
	x := l.propose()
	_, err := l.Sim.MergePull(apptest.Repo, x.Pull, apptest.Owner)
	check(t, err)
	l.Periodic("trials")
	file, err := l.Sim.File(apptest.Repo, "main", x.File)
	check(t, err)
	first, err := policies.Parse(x.File, []byte(file))
	check(t, err)
	second, err := policies.Mutate(first, policies.Mutation{Path: "parameters.threshold", Value: "0.5"})
	check(t, err)
	l.addOwnPolicy(x.File, second.Source)
	check(t, l.App.Store.HoldPolicy(t.Context(), store.PolicyHold{Installation: l.Install, Place: x.Place.ID,
		Decision: x.Decision, Name: x.Name, Bad: second.ID(), Instead: first.ID(), Until: l.Clock.Now(), Why: "it fell"}))
	if _, err := l.App.Evolver.Propose(t.Context(), l.Install, x.Place, x.Name,
		policies.Mutation{Path: "parameters.threshold", Value: "0.6", Reason: "r"}, "@ann"); err == nil ||
		!strings.Contains(err.Error(), "put the file back first") {
		t.Errorf("what does not decide can be built on: %v", err)
	}
	until := l.Clock.Now().Add(90 * 24 * time.Hour).Truncate(time.Second)
	_, err = l.App.Evolver.Freeze(t.Context(), l.Install, x.Place, x.Name, until, "@ann", "until the release")
	check(t, err)
	x, err = l.App.Evolver.Rollback(t.Context(), x.ID, "@ann")
	check(t, err)
	holds, err := l.App.Store.PolicyHolds(t.Context(), l.Install)
	check(t, err)
	if len(holds) != 1 || holds[0].Bad != second.ID() || holds[0].Instead != x.Present || !holds[0].Until.Equal(until) {
		t.Errorf("%+v", holds)
	}
}

// Users' actions on the pull request have priority over SIA's.
func TestPeopleDecideAboutAChange(t *testing.T) {
	t.Parallel()
	closed := lab{shop(t, "pass"), t}
	x := closed.propose()
	check(t, closed.Sim.CloseIssue(apptest.Repo, x.Pull, apptest.Owner))
	closed.Periodic("trials")
	if x = closed.change(); x.Phase != store.ExperimentRejected || !strings.Contains(x.Why, "a person closed") {
		t.Errorf("closed: %s: %s", x.Phase, x.Why)
	}
	merged := lab{shop(t, "pass"), t}
	x = merged.propose()
	_, err := merged.Sim.MergePull(apptest.Repo, x.Pull, apptest.Owner)
	check(t, err)
	merged.Periodic("trials")
	if x = merged.change(); x.Phase != store.ExperimentPromoted || !strings.Contains(x.Why, "a person merged") {
		t.Errorf("merged: %s: %s", x.Phase, x.Why)
	}
	contains(t, merged.comment(x), "not watched yet: 0 of 20 tasks")
	merged.outcomes(x, 120, true, func(_ int, candidate bool) bool { return !candidate })
	merged.Periodic("trials")
	if x = merged.change(); x.Phase != store.ExperimentRolledBack || !strings.Contains(x.Why, "resolved fell") {
		t.Errorf("merged untried, and turned bad: %s: %s", x.Phase, x.Why)
	}

	// A rollback does not overwrite users' later changes of the file.
	edited := lab{shop(t, "pass"), t}
	x = edited.propose()
	_, err = edited.Sim.MergePull(apptest.Repo, x.Pull, apptest.Owner)
	check(t, err)
	edited.Periodic("trials")
	mine, err := edited.Sim.File(apptest.Repo, "main", x.File)
	check(t, err)
	mine = strings.Replace(mine, "threshold: 0.95", "threshold: 0.91", 1)
	_, err = edited.Sim.PushFiles(apptest.Repo, "main", apptest.Owner, "Mine", map[string]string{x.File: mine})
	check(t, err)
	x, err = edited.App.Evolver.Rollback(t.Context(), x.ID, "@"+apptest.Owner)
	check(t, err)
	if now, err := edited.Sim.File(apptest.Repo, "main", x.File); err != nil || now != mine ||
		x.Phase != store.ExperimentRolledBack {
		t.Errorf("edited: %s: %s: %v\n%s", x.Phase, x.Why, err, now)
	}
	kept, later := x, x
	kept.ID, kept.Phase = "decompose-8-abc", store.ExperimentKept
	later.ID, later.Phase, later.PromotedAt = "decompose-9-abc", store.ExperimentPromoted, x.PromotedAt.Add(time.Hour)
	check(t, edited.App.Store.SaveExperiment(t.Context(), "", kept, "kept"))
	check(t, edited.App.Store.SaveExperiment(t.Context(), "", later, "promoted"))
	if _, err := edited.App.Evolver.Rollback(t.Context(), kept.ID, "@ann"); err == nil ||
		!strings.Contains(err.Error(), "decompose-9-abc builds on it") {
		t.Errorf("a change is taken back beneath a later one: %v", err)
	}
	for _, id := range []string{later.ID, kept.ID} {
		x, err := edited.App.Evolver.Rollback(t.Context(), id, "@ann")
		if err != nil || x.Phase != store.ExperimentRolledBack {
			t.Errorf("one after the other: %s %v", x.Phase, err)
		}
	}

	// After the app is uninstalled, or removed from the repository, nothing is left to check.
	gone := lab{shop(t, "pass"), t}
	gone.propose()
	check(t, gone.Sim.Uninstall(gone.Install))
	gone.Settle()
	gone.Periodic("trials")
	if x = gone.change(); x.Phase != store.ExperimentStopped || !strings.Contains(x.Why, "uninstalled") {
		t.Errorf("uninstalled: %s: %s", x.Phase, x.Why)
	}

	gone = lab{shop(t, "pass"), t}
	gone.propose()
	check(t, gone.Sim.RemoveFromInstallation(gone.Install, apptest.Repo))
	gone.Settle()
	gone.Periodic("trials")
	if x = gone.change(); x.Phase != store.ExperimentStopped || x.Why != "the app was removed from "+apptest.Repo {
		t.Errorf("removed: %s: %s", x.Phase, x.Why)
	}

	// An archived repository rejects comments and commits, and a change there ends nevertheless.
	archived := lab{shop(t, "pass"), t}
	x = archived.approve(archived.propose(), apptest.Owner)
	check(t, archived.Sim.Archive(apptest.Repo))
	if x, err = archived.App.Evolver.Rollback(t.Context(), x.ID, "@ann"); err != nil ||
		x.Phase != store.ExperimentStopped {
		t.Errorf("archived: %s: %s: %v", x.Phase, x.Why, err)
	}
	// The same holds for a change in force: its file stays, and the previous version decides.
	archived = lab{shop(t, "pass"), t}
	x = archived.propose()
	_, err = archived.Sim.MergePull(apptest.Repo, x.Pull, apptest.Owner)
	check(t, err)
	archived.Periodic("trials")
	check(t, archived.Sim.Archive(apptest.Repo))
	if x, err = archived.App.Evolver.Rollback(t.Context(), x.ID, "@ann"); err != nil ||
		x.Phase != store.ExperimentRolledBack {
		t.Errorf("archived: %s: %s: %v", x.Phase, x.Why, err)
	}
	contains(t, archived.lastEvent(x), "its file stays as it is, and the version before it decides all the same: ")
	contains(t, archived.lastEvent(x), "the repository is archived")
	archived = lab{shop(t, "pass"), t}
	check(t, archived.Sim.Archive(apptest.Repo))
	if x = archived.propose(); x.Phase != store.ExperimentRejected || !strings.Contains(x.Why, "archived") {
		t.Errorf("proposed where nothing can be pushed: %s: %s", x.Phase, x.Why)
	}

	// SIA does not merge somebody else's commit on its branch.
	changed := lab{shop(t, "pass"), t}
	x = changed.approve(changed.propose(), apptest.Owner)
	_, err = changed.Sim.PushFiles(apptest.Repo, "sia/policy-"+x.ID, apptest.Owner, "And this",
		map[string]string{"evil.txt": "x\n"})
	check(t, err)
	changed.outcomes(x, 80, false, func(i int, candidate bool) bool { return candidate || i%2 == 0 })
	changed.Periodic("trials")
	if x = changed.change(); x.Phase != store.ExperimentBetter || !strings.Contains(x.Why, "somebody changed its branch") {
		t.Errorf("changed: %s: %s", x.Phase, x.Why)
	}
	contains(t, changed.comment(x), "Please merge this pull request")
}
