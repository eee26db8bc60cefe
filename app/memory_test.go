package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/memory"
	"github.com/sia-bot/sia/sim/apptest"
)

// shop returns the stage of a story at its beginning.
func shop(t *testing.T, story string) *apptest.Stage {
	t.Helper()
	return theStory(t, story).Start(t)
}

func theStory(t *testing.T, story string) apptest.Story {
	t.Helper()
	all := apptest.Stories(t, "testdata/stories")
	i := slices.IndexFunc(all, func(s apptest.Story) bool { return s.Name == story })
	if i < 0 {
		t.Fatalf("there is no story %s", story)
	}
	return all[i]
}

// resolve makes SIA work on an issue and returns its number when nothing is pending.
func resolve(t *testing.T, s *apptest.Stage, title string) int {
	t.Helper()
	n := open(t, s, title)
	s.Settle()
	return n
}

func open(t *testing.T, s *apptest.Stage, title string) int {
	t.Helper()
	n, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, title, "Put a greeting into `hello.txt`.", "sia")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func onMemory(t *testing.T, s *apptest.Stage, path string) string {
	t.Helper()
	text, err := s.Sim.File(apptest.Repo, apptest.MemoryBranch, path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func push(t *testing.T, s *apptest.Stage, branch string, files map[string]string) {
	t.Helper()
	if _, err := s.Sim.PushFiles(apptest.Repo, branch, apptest.Owner, "By hand", files); err != nil {
		t.Fatal(err)
	}
	s.Settle()
}

func repoID(t *testing.T, s *apptest.Stage) int64 {
	t.Helper()
	r, err := s.Sim.Repo(apptest.Repo)
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

func lessonsOf(t *testing.T, s *apptest.Stage) []lesson.Lesson {
	t.Helper()
	all, err := s.App.Store.Lessons(context.Background(), repoID(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// asked returns all requests to the coding model about an issue, starting at the n-th.
func asked(t *testing.T, s *apptest.Stage, since int, title string) string {
	t.Helper()
	var b strings.Builder
	for _, r := range s.Model.Requests()[since:] {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), title) {
			b.Write(text)
		}
	}
	return b.String()
}

// Users' edits of the memory branch are imported when they are pushed, answered in the file, and part of the next
// brief.
func TestPeopleEditMemory(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass-after-sia")
	resolve(t, s, "Greet the customers")
	const rule = "Every greeting of the customers ends with an exclamation mark."
	file := onMemory(t, s, lesson.Path)
	push(t, s, apptest.MemoryBranch, map[string]string{
		lesson.Path:            strings.Replace(file, "## Add a lesson\n", "## Add a lesson\n\n- "+rule+"\n", 1),
		".sia/instructions.md": "Be brief, says the memory branch.\n",
	})
	i := slices.IndexFunc(lessonsOf(t, s), func(l lesson.Lesson) bool { return l.Text == rule })
	if i < 0 {
		t.Fatalf("the bullet is no lesson: %+v", lessonsOf(t, s))
	}
	if l := lessonsOf(t, s)[i]; l.From.Source != lesson.FromPerson || l.From.By.Login != apptest.Owner ||
		l.Good != lesson.PersonWeight {
		t.Errorf("got %+v", l)
	}
	file = onMemory(t, s, lesson.Path)
	if !strings.Contains(file, "- **Lesson:** "+rule) || strings.Contains(file, "\n- "+rule) {
		t.Errorf("SIA did not make a section of it:\n%s", file)
	}

	before := len(s.Model.Requests())
	again := resolve(t, s, "Greet the customers again")
	if brief := asked(t, s, before, "Greet the customers again"); strings.Contains(brief, "says the memory branch") {
		t.Error("instructions on the memory branch were read")
	}
	if w := s.Task(again).Warning; !strings.Contains(w, "`.sia/instructions.md` on the memory branch is not read") {
		t.Errorf("nobody is told that they were not: %q", w)
	}
	push(t, s, "main", map[string]string{".sia/instructions.md": "Be clear, says the base branch.\n"})
	before = len(s.Model.Requests())
	resolve(t, s, "Greet the customers once more")
	brief := asked(t, s, before, "Greet the customers once more")
	if !strings.Contains(brief, "Be clear, says the base branch.") || strings.Contains(brief, "Be brief") {
		t.Error("the base branch's instructions do not win")
	}

	id := lessonsOf(t, s)[i].ID
	file = onMemory(t, s, lesson.Path)
	from := strings.Index(file, "### Lesson "+string(id))
	to := from + strings.Index(file[from:], "**From:**")
	to += strings.Index(file[to:], "\n") + 1
	push(t, s, apptest.MemoryBranch, map[string]string{lesson.Path: file[:from] + file[to:]})
	if l := lessonsOf(t, s)[i]; l.State != lesson.Forgotten {
		t.Errorf("its section was deleted, but the lesson is %s", l.State)
	}
}

// SIA learns so many lessons that people add at a time, whether as bullets or as sections. The others stay in the file
// as they are, and follow, also before an attempt.
func TestPeopleAddManyLessons(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass-after-sia")
	resolve(t, s, "Greet the customers")
	learned := func() (n int) {
		for _, l := range lessonsOf(t, s) {
			if l.From.Source == lesson.FromPerson {
				n++
			}
		}
		return n
	}
	words := func(kind string, n int) string { // no two alike, which would be merged
		w := kind + string([]rune{rune('a' + n/8), rune('a' + n%8)})
		return w + "one " + w + "two " + w + "three " + w + "four.\n"
	}
	var bullets, sections strings.Builder
	for n := range 60 {
		fmt.Fprintf(&bullets, "- %s", words("Bullet", n))
		fmt.Fprintf(&sections, "### Lesson %012x\n\n- **Lesson:** %s\n%s\n", 0xabc000+n, words("Section", n),
			words("Note", n))
	}
	file := strings.Replace(onMemory(t, s, lesson.Path), "## Add a lesson\n", "## Add a lesson\n\n"+bullets.String(), 1)
	push(t, s, apptest.MemoryBranch, map[string]string{lesson.Path: file + "\n## Mine\n\n" + sections.String()})
	if got := learned(); got != 50 {
		t.Errorf("%d lessons were learned at once", got)
	}
	head, err := s.App.Store.MemoryHead(context.Background(), repoID(t, s))
	if err != nil || !strings.Contains(head.Warning, "SIA has not learned 70 lessons in `.sia/lessons.md` yet") {
		t.Errorf("nobody is told: %q, %v", head.Warning, err)
	}
	s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
	open(t, s, "Greet the customers again")
	s.Until()
	if got := learned(); got != 100 {
		t.Errorf("before the attempt %d lessons were learned", got)
	}
	s.Go()
	s.Settle()
	for round := range 3 {
		file = onMemory(t, s, lesson.Path)
		for n := range 60 {
			for _, kind := range []string{"Bullet", "Section", "Note"} {
				if is := strings.Count(file, words(kind, n)); is != 1 {
					t.Fatalf("round %d: the file has %q %d times", round, words(kind, n), is)
				}
			}
		}
		push(t, s, apptest.MemoryBranch, map[string]string{lesson.Path: file + "\nA word.\n"})
	}
	if got := learned(); got != 120 {
		t.Errorf("%d lessons were learned in the end", got)
	}
}

// Without a record of what SIA wrote last, a lesson that lessons.md does not show is new, not deleted.
func TestLessonsOutliveTheirFile(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass-after-sia")
	n := resolve(t, s, "Greet the customers")
	push(t, s, apptest.MemoryBranch, map[string]string{lesson.JSONPath: "{"})
	if _, err := s.Sim.Comment(apptest.Repo, n, apptest.Owner, "/sia learn Dates are UTC, always."); err != nil {
		t.Fatal(err)
	}
	s.Settle()
	resolve(t, s, "Greet the customers again")
	if !slices.ContainsFunc(lessonsOf(t, s), func(l lesson.Lesson) bool {
		return l.Text == "Dates are UTC, always." && l.State == lesson.Active
	}) || !strings.Contains(onMemory(t, s, lesson.Path), "Dates are UTC, always.") {
		t.Errorf("the lesson is lost: %+v", lessonsOf(t, s))
	}
}

// A file broken by a user is kept and reported, and a lost delivery loses nothing.
func TestBrokenMemoryIsKept(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass-after-sia")
	resolve(t, s, "Greet the customers")
	broken := onMemory(t, s, lesson.Path) + "\n<<<<<<< HEAD\n"
	s.Stop() // so that the push is not noticed
	push(t, s, apptest.MemoryBranch, map[string]string{lesson.Path: broken})
	s.Restart()
	n := resolve(t, s, "Greet the customers again")
	if w := s.Task(n).Warning; !strings.Contains(w, "a merge conflict is left in the file") {
		t.Errorf("people are told: %q", w)
	}
	if got := onMemory(t, s, lesson.Path); got != broken {
		t.Error("it was not kept: ", cmp.Diff(broken, got))
	}
}

// facts are the basis of choices, in the store.
func facts(t *testing.T, s *apptest.Stage, issues ...int) string {
	t.Helper()
	ctx := context.Background()
	outcomes, err := s.App.Store.OutcomesSince(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	coders, err := s.App.Store.CoderOutcomesSince(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range coders {
		coders[i].At = time.Time{}                // time of recording
		coders[i].Agent, coders[i].Setup = "", "" // unknown of a restored one
	}
	for i := range outcomes {
		outcomes[i].Setup = "" // likewise
	}
	about := s.Task(issues[0])
	kind := policies.Read(about.Title, about.Body, about.Labels).Kind
	alone, helped, err := s.App.Store.TaskEnds(ctx, about.Repo.ID, string(kind))
	if err != nil {
		t.Fatal(err)
	}
	all := []any{lessonsOf(t, s), outcomes, coders, alone, helped}
	for _, n := range issues {
		task := s.Task(n)
		decisions, err := s.App.Store.Decisions(ctx, task.ID)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range decisions {
			var context map[string]any
			if err := json.Unmarshal(d.Context, &context); err != nil {
				t.Fatal(err)
			}
			delete(context, "setup") // not restored
			if decisions[i].Context, err = json.Marshal(context); err != nil {
				t.Fatal(err)
			}
		}
		for _, iv := range task.Interventions {
			all = append(all, iv.Diagnosis.Candidates)
		}
		for i := range task.Attempts {
			task.Attempts[i].Risk = nil // not restored
		}
		all = append(all, decisions, task.State, task.Attempts, task.Prompts, len(task.Interventions), task.Head, task.Pull,
			task.AskedBy, task.Credits.Spent)
	}
	evidence, err := s.App.Store.LessonEvidence(ctx, repoID(t, s), "")
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(append(all, evidence), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// learnSomething stores facts of every kind, as if much had happened.
func learnSomething(t *testing.T, s *apptest.Stage, issue int) {
	t.Helper()
	ctx := context.Background()
	task := s.Task(issue)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	at := s.Clock.Now().UTC()
	d := sia.Decision{ID: string(task.ID) + "/1/diagnose-v0", Task: task.ID, Repo: task.Repo.ID, Attempt: 1,
		Type: sia.DecideTechnique, Policy: "technique/1",
		Context: json.RawMessage(`{"pattern":"environment"}`), Options: json.RawMessage(`[]`), Choice: "fresh-start",
		Propensity: 0.5, At: at, Outcome: "failed", Credit: -0.3}
	must(s.App.Store.LogDecision(ctx, d))
	l := lesson.NewTaught(task.Repo.ID, fmt.Sprintf("taught-%d", issue), fmt.Sprintf("Say hello on issue %d.", issue),
		sia.Actor{Login: "ana", ID: 3}, task, at)
	must(s.App.Store.PutLessons(ctx, task.Repo.ID, l))
	must(s.App.Store.CountLessons(ctx, task.Repo.ID,
		lesson.Evidence{Key: fmt.Sprintf("attempt/%s/%s", task.ID, l.ID), Lesson: l.ID, Bad: 1, At: at, Why: "it failed"},
		lesson.Evidence{Key: fmt.Sprintf("merge/%d", issue), Lesson: l.ID, Good: 1, At: at, Why: "it says the same"}))
}

// tryTechniques stores outcomes of techniques, as if an earlier task had tried them, and commits that task's file.
func tryTechniques(t *testing.T, s *apptest.Stage, like sia.Task) {
	t.Helper()
	ctx := context.Background()
	past, at := like, s.Clock.Now().UTC()
	past.Issue, past.State, past.Attempts, past.Interventions = 90, sia.Stopped, nil, nil
	past.ID = sia.NewTaskID(past.Repo.ID, past.Issue)
	try := func(o store.Outcome) {
		t.Helper()
		o.Task, o.Intervention, o.Repo = past.ID, len(past.Interventions)+1, past.Repo
		o.Setup, o.Decision, o.At = "s", fmt.Sprintf("%s/%d/diagnose-v0", past.ID, o.Intervention), at
		past.Interventions = append(past.Interventions, sia.Intervention{Number: o.Intervention,
			Diagnosis: sia.Diagnosis{Pattern: o.Pattern, Technique: o.Technique}, Resolved: &o.Resolved})
		_, err := s.App.Store.RecordOutcome(ctx, o)
		check(t, err)
	}
	for n, technique := range []sia.TechniqueID{sia.FreshStart, sia.Decomposition, sia.ToolChange} {
		try(store.Outcome{Pattern: sia.Environment, Technique: technique, Resolved: n == 1, Z: 0.25 * float64(n),
			Confidence: map[string]float64{"fresh-start": 0.7, "decomposition": 0, "tool-change": 0.2,
				"context-pruning": 0.4}})
	}
	// The model's usual answers about the pattern in the story decide what is tried: none of the candidates' own outcomes
	// does.
	for range 6 {
		try(store.Outcome{Pattern: sia.UnclearInstructions, Technique: sia.ToolChange,
			Confidence: map[string]float64{"prompt-restructuring": 0.05, "context-pruning": 0.95, "example-injection": 0.3,
				"decomposition": 0.2}})
	}
	outcomes, err := s.App.Store.OutcomesOf(ctx, past.ID)
	check(t, err)
	var log memory.Log
	for _, o := range outcomes {
		b, err := json.Marshal(o)
		check(t, err)
		log.Outcomes = append(log.Outcomes, b)
	}
	file, err := memory.JSON(past, memory.Links{Log: log}, nil)
	check(t, err)
	push(t, s, apptest.MemoryBranch, map[string]string{".sia/tasks/90.json": string(file)})
}

// After the database is lost and `sia reindex`, SIA has the same data, and the next choice is the same.
func TestReindex(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass-after-sia")
	first := resolve(t, s, "Greet the customers")
	learnSomething(t, s, first)
	tryTechniques(t, s, s.Task(first))
	second := resolve(t, s, "Greet the customers again") // commits what was learned
	if _, err := s.Sim.Comment(apptest.Repo, first, apptest.Owner, "/sia start"); err != nil {
		t.Fatal(err)
	}
	s.Settle()
	before := facts(t, s, first, second)

	s.Lose()
	got := s.Reindex("")
	if len(got) != 1 || got[0].Tasks != 3 || got[0].Again != 0 || got[0].Lessons == 0 || len(got[0].Problems) != 0 {
		t.Errorf("rebuilt %+v", got)
	}
	if again := s.Reindex(""); again[0].Tasks+again[0].Lessons+again[0].Outcomes+again[0].Decisions != 0 {
		t.Errorf("rebuilt a second time %+v", again)
	}
	s.Restart()
	if d := cmp.Diff(before, facts(t, s, first, second)); d != "" {
		t.Error("SIA knows something else: ", d)
	}
	third := resolve(t, s, "Greet the customers thrice")
	for _, n := range []int{second, third} {
		if task := s.Task(n); task.State != sia.Passed || task.Interventions[0].Diagnosis.Technique != sia.ContextPruning {
			t.Errorf("issue %d, with the ratings of earlier diagnoses: %s, %+v", n, task.State, task.Interventions)
		}
	}
}

// A task that was deleted from the database long after its end continues where it was when a user starts its issue
// again. GitHub, memory, the log of decisions and the learners have the same data as for a task that was kept. Its log
// of events begins from scratch, names nobody for that, and can be erased for a user.
func TestStartOfADeletedTask(t *testing.T) {
	t.Parallel()
	play := func(t *testing.T, keep bool) (*apptest.Stage, map[string]string) {
		t.Helper()
		s := shop(t, "restart-after-stop")
		s.Hold(apptest.Point{When: "before", Kind: sia.DoBegin, Attempt: 2})
		issue := open(t, s, "Greet the customers")
		s.Until()
		say := func(number int, words string) {
			t.Helper()
			if _, err := s.Sim.Comment(apptest.Repo, number, apptest.Owner, words); err != nil {
				t.Fatal(err)
			}
		}
		say(s.Task(issue).Pull.Number, "/sia stop")
		s.Go()
		s.Settle()
		ctx := context.Background()
		if !keep {
			if n, err := s.App.Store.PruneTasks(ctx, s.Clock.Now().Add(time.Hour)); err != nil || n != 1 {
				t.Fatalf("deleted %d tasks, %v", n, err)
			}
		}
		s.Restart()
		say(issue, "/sia start Mind the comma.")
		s.Settle()
		is := map[string]string{}
		for _, f := range s.Record() {
			is[f.Name] = string(f.Data)
		}
		_, is["want/decisions"], _ = strings.Cut(is["want/decisions"], "stopped → queued: start")
		coders, err := s.App.Store.CoderOutcomesSince(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range coders {
			is["coders"] += fmt.Sprintf("attempt %d of %s: %t\n", o.Attempt, o.Task, o.Resolved)
		}
		return s, is
	}
	_, kept := play(t, true)
	s, deleted := play(t, false)
	if d := cmp.Diff(kept, deleted); d != "" {
		t.Error("it is not what it would be if it had been kept: ", d)
	}
	ctx := context.Background()
	acts, err := s.App.Store.Acts(ctx, store.ActFilter{Repo: repoID(t, s)})
	if err != nil || slices.ContainsFunc(acts, func(a store.Act) bool { return a.What == string(sia.KRestored) }) {
		t.Errorf("who did what: %+v, %v", acts, err)
	}
	if _, err := s.App.Store.Forget(ctx, apptest.Owner, false); err != nil {
		t.Error(err)
	}
	task, err := s.App.Store.Replay(ctx, s.Task(1).ID)
	if err != nil || len(task.Attempts) != 2 || task.State != sia.Passed || task.AskedBy.Login == apptest.Owner {
		t.Errorf("the task is %s, with %d attempts, asked for by %s, %v", task.State, len(task.Attempts), task.AskedBy.Login,
			err)
	}
}

// A reviewer's finding on a head that has passed is no evidence about its coder, regardless of the follow-up; and after
// the database is lost, the task still has passed.
func TestReviewOfAGreenHead(t *testing.T) {
	t.Parallel()
	for story, outcomes := range map[string][]sia.AttemptOutcome{
		"demand-answered": {sia.AttemptPass, sia.AttemptUnchanged},
		"demand-done":     {sia.AttemptPass, sia.AttemptPass},
		"demand-red":      {sia.AttemptPass, sia.AttemptFail},
		"review-answered": {sia.AttemptPass, sia.AttemptUnchanged},
	} {
		t.Run(story, func(t *testing.T) {
			t.Parallel()
			s := theStory(t, story).Played(t)
			var got []sia.AttemptOutcome
			for _, a := range s.Task(1).Attempts {
				got = append(got, a.Outcome)
			}
			if d := cmp.Diff(outcomes, got); d != "" {
				t.Error(d)
			}
			coders, err := s.App.Store.CoderOutcomesSince(context.Background(), 0)
			if err != nil || len(coders) != 1 || !coders[0].Resolved || coders[0].Attempt != 1 {
				t.Errorf("the coder's results are %+v, %v", coders, err)
			}
			before := facts(t, s, 1)
			s.Lose()
			if got := s.Reindex(""); len(got) != 1 || got[0].Tasks != 1 || got[0].Again != 0 || len(got[0].Problems) != 0 {
				t.Errorf("rebuilt %+v", got)
			}
			s.Restart()
			s.Settle()
			if d := cmp.Diff(before, facts(t, s, 1)); d != "" {
				t.Error("SIA knows something else: ", d)
			}
		})
	}
}

// A task that was running restarts if it still has its label, and otherwise waits for a user; its texts on GitHub show
// that.
func TestReindexUnfinished(t *testing.T) {
	t.Parallel()
	s := shop(t, "escalate-answer")
	kept := resolve(t, s, "Greet the customers")
	left := resolve(t, s, "Greet the customers again")
	gone := resolve(t, s, "Greet the customers once more")
	for _, n := range []int{kept, left, gone} {
		if st := s.Task(n).State; st != sia.Escalated {
			t.Fatalf("issue %d is %s", n, st)
		}
	}
	s.Lose()
	if err := s.Sim.Unlabel(apptest.Repo, left, apptest.Owner, "sia"); err != nil {
		t.Fatal(err)
	}
	if err := s.Sim.DeleteIssue(apptest.Repo, gone, apptest.Owner); err != nil {
		t.Fatal(err)
	}
	if got := s.Reindex(""); got[0].Tasks != 3 || got[0].Again != 1 || len(got[0].Problems) != 0 {
		t.Errorf("rebuilt %+v", got)
	}
	s.Restart()
	s.Settle()
	if task := s.Task(kept); len(task.Attempts) < 2 || task.StartedAt.Equal(task.CreatedAt) ||
		task.Ended == memory.Rebuilt {
		t.Errorf("the task whose label is on: %s, %d attempts, %s", task.State, len(task.Attempts), task.Ended)
	}
	if task := s.Task(left); task.State != sia.Stopped || task.Ended != memory.Rebuilt {
		t.Errorf("the task whose label is off: %s, %s", task.State, task.Ended)
	}
	issues, err := s.Sim.Issues(apptest.Repo)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range issues {
		if i.Number == left && !slices.Contains(i.Labels, "sia:stopped") {
			t.Errorf("GitHub shows %v", i.Labels)
		}
	}
}

// Whoever may push to the memory branch of one repository decides nothing in another, and has no say in budgets.
func TestReindexForged(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass-after-sia")
	first := resolve(t, s, "Greet the customers")
	second := resolve(t, s, "Greet the customers again")
	forge := func(issue int, change func(record map[string]any)) {
		t.Helper()
		name := fmt.Sprintf(".sia/tasks/%d.json", issue)
		var file map[string]any
		if err := json.Unmarshal([]byte(onMemory(t, s, name)), &file); err != nil {
			t.Fatal(err)
		}
		record, _ := file["record"].(map[string]any)
		change(record)
		b, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		push(t, s, apptest.MemoryBranch, map[string]string{name: string(b)})
	}
	ids := []string{"1006-1/1/decide-assign-v3", string(s.Task(first).ID) + "/3/decide-decompose-v900000"}
	forge(first, func(record map[string]any) {
		record["at"] = s.Clock.Now().AddDate(50, 0, 0)
		var mine []sia.Decision
		for _, id := range ids {
			mine = append(mine, sia.Decision{ID: id, Type: sia.DecideAssign, Choice: "c", Reason: "mine"})
		}
		record["decisions"] = mine
		record["outcomes"] = []store.Outcome{{Intervention: 1, Technique: sia.ToolChange, Decision: ids[0]},
			{Intervention: 1, Technique: sia.ToolChange, Pattern: sia.Environment, Setup: "invented",
				Confidence: map[string]float64{"invented": 1, string(sia.FreshStart): 0.5}},
			{Intervention: 1}, {Intervention: 7}}
	})
	tried := s.Task(first).Interventions[0].Diagnosis
	forge(second, func(record map[string]any) {
		task, _ := record["task"].(map[string]any)
		task["credits"] = sia.Ledger{Spent: -90_000_000}
	})
	s.Lose()
	got := s.Reindex("")
	if got[0].Tasks != 1 || got[0].Decisions != 0 || !strings.Contains(fmt.Sprint(got[0].Problems), "-90000 credits") ||
		!strings.Contains(fmt.Sprint(got[0].Problems), "did not make; it is") ||
		got[0].Outcomes != 1 || !strings.Contains(fmt.Sprint(got[0].Problems), "has 3 outcomes of interventions") {
		t.Errorf("rebuilt %+v", got)
	}
	s.Restart()
	ctx := context.Background()
	for _, id := range ids {
		if d, err := s.App.Store.Decision(ctx, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("restored %+v, %v", d, err)
		}
	}
	outcomes, err := s.App.Store.OutcomesOf(ctx, sia.NewTaskID(repoID(t, s), first))
	if err != nil || len(outcomes) != 1 || outcomes[0].Pattern != tried.Pattern ||
		outcomes[0].Technique != tried.Technique || outcomes[0].Setup != store.RestoredSetup ||
		len(outcomes[0].Confidence) != 1 {
		t.Errorf("restored %+v, %v", outcomes, err)
	}
	coders := func() []store.CoderOutcome {
		t.Helper()
		all, err := s.App.Store.CoderOutcomesSince(ctx, 0)
		named := func(o store.CoderOutcome) bool { return o.Agent != "" }
		if err != nil || len(all) == 0 || slices.ContainsFunc(all, named) {
			t.Errorf("results of coders: %+v, %v", all, err)
		}
		return all
	}
	before := coders()
	forge(first, func(record map[string]any) { // the task is in the database, which has its attempts
		task, _ := record["task"].(map[string]any)
		attempts, _ := task["attempts"].([]any)
		last, _ := attempts[len(attempts)-1].(map[string]any)
		more := maps.Clone(last)
		more["number"], more["agent"] = 99, "invented"
		task["attempts"] = append(attempts, more)
	})
	s.Reindex("")
	if d := cmp.Diff(before, coders()); d != "" {
		t.Error("attempts that the task did not make count: ", d)
	}
	spent, err := s.App.Store.TotalCreditsSpent(ctx, s.Clock.Now().Add(time.Minute), s.Clock.Now().AddDate(99, 0, 0))
	if err != nil || spent != 0 {
		t.Errorf("it counts %s in the future, %v", spent, err)
	}
}

// Files broken by users are reported with the line and not changed; the others are rebuilt.
func TestReindexBroken(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass-after-sia")
	first := resolve(t, s, "Greet the customers")
	second := resolve(t, s, "Greet the customers again")
	learnSomething(t, s, second)
	third := resolve(t, s, "Greet the customers thrice")
	before := lessonsOf(t, s)
	name := fmt.Sprintf(".sia/tasks/%d.json", first)
	push(t, s, apptest.MemoryBranch, map[string]string{name: onMemory(t, s, name) + "}", lesson.JSONPath: "{"})
	s.Lose()
	got := s.Reindex("")
	if got[0].Tasks != 2 || got[0].Lessons == 0 || len(got[0].Problems) != 2 ||
		!strings.Contains(got[0].Problems[0], name+":") {
		t.Errorf("rebuilt %+v", got)
	}
	s.Restart()
	if s.Task(second).State != sia.Passed || s.Task(third).State != sia.Passed {
		t.Error("the others were not rebuilt")
	}
	after := lessonsOf(t, s)
	if !slices.ContainsFunc(after,
		func(l lesson.Lesson) bool { return strings.HasPrefix(l.Text, "Say hello on issue") }) {
		t.Error("the lessons were not taken from what people read")
	}
	for _, l := range before {
		i := slices.IndexFunc(after, func(a lesson.Lesson) bool { return a.ID == l.ID })
		if i >= 0 && (after[i].From != l.From || after[i].Good != l.Good || after[i].Bad != l.Bad) {
			t.Errorf("the lesson\n%+v\ncame back as\n%+v", l, after[i])
		}
	}
}

// Lessons about models, which earlier versions learned, don't come back: neither from the database, nor from the memory
// branch, of which what people wrote is kept.
func TestMemoryOfEarlierVersions(t *testing.T) {
	t.Parallel()
	const count, said = lesson.ID("fdd52c815ac0"), lesson.ID("735256b2e164")
	s := shop(t, "pass-after-sia")
	first := resolve(t, s, "Greet the customers")
	files := map[string]string{lesson.Path: "models.md", lesson.JSONPath: "models.json"}
	for path, name := range files {
		b, err := os.ReadFile(filepath.Join("..", "sia", "lesson", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		files[path] = string(b)
	}
	before, _, err := lesson.ParseJSON(repoID(t, s), []byte(files[lesson.JSONPath]))
	if err != nil {
		t.Fatal(err)
	}
	ctx, db := context.Background(), s.App.Store
	e := lesson.Evidence{Key: fmt.Sprintf("model/%s/1", s.Task(first).ID), Lesson: count, Bad: 1, At: s.Clock.Now()}
	if err := errors.Join(db.PutLessons(ctx, repoID(t, s), before...), db.CountLessons(ctx, repoID(t, s), e)); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		kinds := map[lesson.ID]lesson.Kind{}
		for _, l := range lessonsOf(t, s) {
			kinds[l.ID] = l.Kind
		}
		if kinds[count] != "" || kinds[said] != lesson.Discovery {
			t.Errorf("%s: the lessons are %v", when, kinds)
		}
		found, err := s.App.Store.SearchLessons(ctx, repoID(t, s), lesson.Words("changelog", 9), 9,
			func(lesson.SearchHit) bool { return true })
		if err != nil || len(found) != 1 {
			t.Errorf("%s: what a person said is not found: %+v, %v", when, found, err)
		}
	}
	push(t, s, apptest.MemoryBranch, files)
	check("of the database")
	if d := cmp.Diff(files[lesson.Path], onMemory(t, s, lesson.Path)); d != "" {
		t.Error("it is written though nobody edited it: ", d)
	}
	if _, err := s.Sim.MergePull(apptest.Repo, s.Task(first).Pull.Number, apptest.Owner); err != nil {
		t.Fatal(err)
	}
	s.Settle()
	record := onMemory(t, s, fmt.Sprintf(".sia/tasks/%d.json", first))
	if s.Task(first).Aftermath == "" || !strings.Contains(record, `"aftermath"`) || strings.Contains(record, `"model/`) {
		t.Errorf("the record of what became of it has the old evidence:\n%s", record)
	}
	push(t, s, apptest.MemoryBranch, files)
	s.Lose()
	if got := s.Reindex(""); len(got[0].Problems) != 0 {
		t.Errorf("rebuilt %+v", got)
	}
	s.Restart()
	check("of the branch")
	push(t, s, apptest.MemoryBranch, map[string]string{lesson.Path: files[lesson.Path], lesson.JSONPath: "{"})
	check("of lessons.md, which was read")
	s.Lose()
	if got := s.Reindex(""); len(got[0].Problems) != 1 || !strings.Contains(got[0].Problems[0], lesson.JSONPath) {
		t.Errorf("rebuilt %+v", got)
	}
	s.Restart()
	check("of lessons.md alone")
	again := resolve(t, s, "Greet the customers again")
	if w := s.Task(again).Warning; w != "" {
		t.Errorf("people are warned: %s", w)
	}
	file := onMemory(t, s, lesson.Path)
	if strings.Contains(file, "### Lesson "+string(count)) ||
		!strings.Contains(file, "We pay for the small model only.") ||
		!strings.Contains(file, "Ana: that was before the rate limit.") ||
		!strings.Contains(file[strings.Index(file, "## Good to know"):], "The small model forgets the changelog.") {
		t.Errorf("the file is\n%s", file)
	}
}
