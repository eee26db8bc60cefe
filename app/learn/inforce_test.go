package learn_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// install installs the app on the repository and its owner's .github.
func (w *teacher) install() {
	w.t.Helper()
	ctx := context.Background()
	w.must(w.store.UpsertInstallation(ctx,
		store.Installation{ID: 3, Account: "acme"}))
	for id, name := range map[int64]string{repo: "shop", repo + 1: sia.OwnersRepo} {
		w.must(w.store.UpsertRepository(ctx,
			store.Repository{Installation: 3, Repo: sia.Repo{ID: id, Owner: "acme", Name: name}}))
	}
}

// set stores the repository's learning settings.
func (w *teacher) set(change func(*sia.LearningSettings)) {
	w.t.Helper()
	w.install()
	s := sia.DefaultSettings()
	change(&s.Learning)
	w.must(w.store.SaveSettings(context.Background(), repo, store.OwnSettings{Settings: &s}))
}

// solved returns a task resolved by a technique, which teaches a lesson.
func (w *teacher) solved(issue int) sia.Task {
	resolved := true
	patterns := []sia.Pattern{sia.MissingCredentials, sia.WrongOrder, sia.ContextOverload, sia.MissingExample}
	return sia.Task{
		ID: sia.NewTaskID(repo, issue), Repo: sia.Repo{ID: repo}, Issue: issue, State: sia.Passed, Since: w.now,
		Settings: sia.DefaultSettings(),
		Attempts: []sia.Attempt{
			{Number: 1, Outcome: sia.AttemptFail, EndedAt: w.now},
			{Number: 2, Outcome: sia.AttemptPass, EndedAt: w.now, Technique: sia.AbstractionLevelShift},
		},
		Interventions: []sia.Intervention{{Number: 1, After: 1, Resolved: &resolved, Diagnosis: sia.Diagnosis{
			Pattern: patterns[issue%len(patterns)], Technique: sia.AbstractionLevelShift, Confidence: .9}}},
	}
}

// learn learns from a task, and returns the number of lessons afterwards.
func (w *teacher) learn(t sia.Task) int {
	w.t.Helper()
	ctx := context.Background()
	w.must(w.FromTask(ctx, t, nil, func(context.Context) ([]string, error) { return nil, nil }))
	all, err := w.store.Lessons(ctx, repo)
	w.must(err)
	return len(all)
}

// learning.enabled: if it is off, nothing is learned, taught or shown, existing lessons stay, and users can still
// forget them.
func TestLearningOff(t *testing.T) {
	w, ctx := newTeacher(t), context.Background()
	w.teach(1, sia.Teach{Learn: "Send every mail through the queue."})
	task := w.solved(2)
	task.Attempts, task.Interventions, task.Title = nil, nil, "Mail through the queue"
	told := func(on bool) int {
		task.Settings.Learning.Enabled = on
		told, withheld, err := w.ForAttempt(ctx, task, task.Settings)
		w.must(err)
		return len(told) + len(withheld)
	}
	if n := told(true); n != 1 {
		t.Fatalf("%d lessons are chosen before it is turned off", n)
	}
	w.set(func(l *sia.LearningSettings) { l.Enabled = false })
	if n := told(false); n != 0 {
		t.Errorf("%d lessons are chosen though it is off", n)
	}
	if n := w.learn(w.solved(1)); n != 1 {
		t.Errorf("%d lessons are there after a task; one was", n)
	}
	if answer, done := w.teach(2, sia.Teach{Learn: "Round tax half to even."}); done || answer == "" {
		t.Errorf("it was taught though it is off: %q", answer)
	}
	w.now = w.now.AddDate(2, 0, 0)
	w.tidy()
	if got := w.states(); len(got) != 1 || got["Send every mail through the queue."] != lesson.Active {
		t.Errorf("what there was did not stay: %v", got)
	}
	if _, done := w.teach(3, sia.Teach{Forget: "mail queue"}); !done {
		t.Error("nothing can be forgotten while it is off")
	}
	w.set(func(l *sia.LearningSettings) {})
	if n := w.learn(w.solved(1)); n != 2 {
		t.Errorf("%d lessons are there after it was turned on again", n)
	}
}

// learning.lessons_per_day limits what attempts teach, separately for each day.
func TestLessonsPerDay(t *testing.T) {
	w := newTeacher(t)
	w.set(func(l *sia.LearningSettings) { l.LessonsPerDay = 2 })
	for issue, want := range []int{1, 2, 2} {
		if n := w.learn(w.solved(issue)); n != want {
			t.Errorf("%d lessons after issue %d, want %d", n, issue, want)
		}
	}
	w.now = w.now.Add(25 * time.Hour)
	if n := w.learn(w.solved(2)); n != 3 {
		t.Errorf("%d lessons after a day", n)
	}
}

// learning.lessons_per_day limits the lessons of patterns, too.
func TestPatternsPerDay(t *testing.T) {
	w, ctx := newTeacher(t), context.Background()
	w.set(func(l *sia.LearningSettings) { l.LessonsPerDay = 1 })
	for _, issue := range []int{1, 5, 9} { // of one pattern
		task := w.solved(issue)
		task.Version, task.Installation, task.CreatedAt = 2, 3, w.now
		_, err := w.store.Apply(ctx, task.ID, sia.Event{ID: "reindex", At: w.now, Fact: sia.Restored{Task: task}})
		w.must(err)
		if n := w.learn(task); n != 1 {
			t.Fatalf("%d lessons after issue %d", n, issue)
		}
	}
	for day, want := range []int{1, 2, 3} {
		w.tidy()
		all, err := w.store.Lessons(ctx, repo)
		w.must(err)
		if len(all) != want {
			t.Errorf("%d lessons on day %d, want %d", len(all), day, want)
		}
		w.now = w.now.Add(20 * time.Hour)
	}
}

// Patterns are found in a repository that has no lesson yet.
func TestPatternsBeforeLessons(t *testing.T) {
	w, ctx := newTeacher(t), context.Background()
	w.set(func(*sia.LearningSettings) {})
	for _, issue := range []int{1, 5, 9} {
		task := w.solved(issue)
		task.Version, task.Installation, task.CreatedAt = 2, 3, w.now
		_, err := w.store.Apply(ctx, task.ID, sia.Event{ID: "reindex", At: w.now, Fact: sia.Restored{Task: task}})
		w.must(err)
	}
	w.tidy()
	all, err := w.store.Lessons(ctx, repo)
	w.must(err)
	if len(all) == 0 {
		t.Error("nothing was learned")
	}
}

// learning.decay_days and learning.heartbeat: lessons are maintained, and decay, at the rates in the settings in force,
// which are the owner's if the repository has none.
func TestHeartbeat(t *testing.T) {
	w, ctx := newTeacher(t), context.Background()
	owners := sia.DefaultSettings()
	owners.Learning.Heartbeat, owners.Learning.DecayDays = sia.Duration(48*time.Hour), 5
	w.install()
	w.must(w.store.SaveSettings(ctx, repo+1, store.OwnSettings{Settings: &owners}))
	l := lesson.Lesson{ID: lesson.NewID(repo, "a"), Repo: repo, Kind: lesson.Success, State: lesson.Promoted,
		Text: "Round tax half to even.", Good: 6, CountedAt: w.now, CreatedAt: w.now, LastSeen: w.now,
		From: lesson.Provenance{Source: lesson.FromOutcome}}
	w.must(w.store.PutLessons(ctx, repo, l))
	good := func() float64 {
		kept, err := w.store.Lesson(ctx, repo, l.ID)
		w.must(err)
		good, _ := kept.Counts(w.now)
		return good
	}
	w.must(w.Tidy(ctx))
	w.now = w.now.AddDate(0, 0, 15)
	if g := good(); g != 3 { // proved: ten days, and five in which it halves
		t.Errorf("%v for it after 15 days, want 3", g)
	}
	w.must(w.Tidy(ctx))
	if s := w.states()[l.Text]; s != lesson.Active {
		t.Errorf("it is %s", s)
	}
	w.set(func(l *sia.LearningSettings) { l.DecayDays, l.Heartbeat = 365, sia.Duration(12*time.Hour) })
	w.now = w.now.Add(11 * time.Hour)
	w.must(w.Tidy(ctx))
	if g := good(); g > 3 {
		t.Errorf("%v for it: it was put in order before its time", g)
	}
	w.now = w.now.Add(time.Hour)
	w.must(w.Tidy(ctx))
	if g := good(); g != 6 {
		t.Errorf("%v for it after the settings changed, want 6", g)
	}
	if s := w.states()[l.Text]; s != lesson.Promoted {
		t.Errorf("it is %s", s)
	}
}

// Tool lessons are the repository's active ones, except those already chosen; none if lessons are disabled.
func TestForTools(t *testing.T) {
	w, ctx := newTeacher(t), context.Background()
	about := func(id lesson.ID, in int64, kind lesson.Kind, state lesson.State) lesson.Lesson {
		return lesson.Lesson{ID: id, Repo: in, Kind: kind, State: state, Text: "Read its error.", Tools: []string{"run"},
			Good: 1, CountedAt: w.now, CreatedAt: w.now, LastSeen: w.now, From: lesson.Provenance{Source: lesson.FromOutcome}}
	}
	met := about("aaaaaaaaaaaa", repo, lesson.Tool, lesson.Active)
	w.must(w.store.PutLessons(ctx, repo, met, about("bbbbbbbbbbbb", repo, lesson.Tool, lesson.Archived),
		about("cccccccccccc", repo, lesson.Mistake, lesson.Active)))
	w.must(w.store.PutLessons(ctx, repo+1, about("dddddddddddd", repo+1, lesson.Tool, lesson.Active)))
	task := w.solved(2)
	ids := func(set func(*sia.LearningSettings), chosen ...lesson.Lesson) (ids []string) {
		s := sia.DefaultSettings()
		set(&s.Learning)
		tools, err := w.ForTools(ctx, task, s, chosen...)
		w.must(err)
		for _, l := range tools {
			ids = append(ids, l.Tool+" "+l.ID)
		}
		return ids
	}
	as := func(*sia.LearningSettings) {}
	if d := cmp.Diff([]string{"run aaaaaaaaaaaa"}, ids(as)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := ids(as, met); got != nil {
		t.Errorf("what was chosen already: %v", got)
	}
	if got := ids(func(l *sia.LearningSettings) { l.LessonsInPrompt = 0 }); got != nil {
		t.Errorf("though no lesson is told: %v", got)
	}
	if got := ids(func(l *sia.LearningSettings) { l.Enabled = false }); got != nil {
		t.Errorf("though nothing is learned: %v", got)
	}
}
