package sia

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia/plan"
)

// The brief has the lessons about tools, and the attempt those that its run was shown, each once.
func TestLessonsMet(t *testing.T) {
	p := &taskDriver{t: t}
	p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", DefaultBranch: "main"})
	about := []ToolLesson{{Tool: "run", ID: "r", Text: "Read its error."}, {Tool: "edit", ID: "e", Withheld: true}}
	p.done(DoBegin, Begun{Settings: DefaultSettings(), BaseBranch: "main", BaseSHA: "base", Title: "Greet",
		Lessons: []LessonRef{{ID: "a", Text: "Be kind."}}, Withheld: []string{"b"}, ToolLessons: about})
	if d := cmp.Diff(about, p.task.Brief.ToolLessons); d != "" {
		t.Errorf("the brief (-want +got):\n%s", d)
	}
	p.done(DoDecide, Decided{Type: DecideDecompose, Choice: string(plan.Whole)})
	p.works()
	before := p.task
	p.run(0, AttemptEnded{End: EndFinished, Commit: "c", LessonsShown: []string{"r", "r"}, LessonsWithheld: []string{"e"}})
	p.wantMet([]string{"a", "r"}, []string{"b", "e"})
	if d := cmp.Diff([]string{"a"}, before.Attempt().LessonsShown); d != "" {
		t.Errorf("the task before has changed (-want +got):\n%s", d)
	}
}

// An attempt has the lessons of all its runs, including the run that made the plan.
func TestLessonsMetByParts(t *testing.T) {
	p := &taskDriver{t: t}
	p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", DefaultBranch: "main"})
	p.done(DoBegin, Begun{Settings: DefaultSettings(), BaseBranch: "main", BaseSHA: "base", Title: "Greet"})
	p.done(DoDecide, Decided{Type: DecideDecompose, Choice: string(plan.Parallel), AtOnce: 2, MaxParts: 5})
	p.works()
	parts := []plan.Part{part("a"), part("b")}
	p.run(1, AttemptEnded{End: EndAsked, Ask: &Ask{Plan: &Plan{Summary: "so", Steps: parts}}, LessonsShown: []string{"l"}})
	first, second := did("c1"), did("c2")
	first.LessonsShown, first.LessonsWithheld = []string{"r"}, []string{"e"}
	second.LessonsShown, second.LessonsWithheld = []string{"r", "w"}, []string{"e"}
	p.run(2, first)
	p.run(3, second)
	p.wantMet([]string{"l", "r", "w"}, []string{"e"})
}

// wantMet checks the lessons that the attempt was shown, and those that were withheld.
func (p *taskDriver) wantMet(shown, withheld []string) {
	p.t.Helper()
	a := p.task.Attempt()
	if d := cmp.Diff([][]string{shown, withheld}, [][]string{a.LessonsShown, a.LessonsWithheld}); d != "" {
		p.t.Errorf("lessons shown and withheld (-want +got):\n%s", d)
	}
}
