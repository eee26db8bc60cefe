package apptest

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/sia-bot/sia/sim/ghsim"
)

// TestMain runs the tests, or the inner end of a network forwarder.
func TestMain(m *testing.M) {
	ForwardIfAsked()
	os.Exit(m.Run())
}

// passed is a player of the story in which the first attempt passes, after it passed.
func passed(t *testing.T) *player {
	t.Helper()
	s, err := readStory("../../app/testdata/stories/pass.txtar")
	if err != nil {
		t.Fatal(err)
	}
	s.parts["push/fix/fix.txt"], s.parts["push/more/more.txt"] = "fixed\n", "more\n"
	p := &player{Stage: s.Start(t), story: s}
	if err := p.play("open ada\nlabel ada sia\nsettle"); err != nil {
		t.Fatal(err)
	}
	return p
}

// Each step has its effect on GitHub.
func TestStepsOfGitHub(t *testing.T) {
	p := passed(t)
	pull := p.Task(p.issue).Pull.Number
	head := string(p.Task(p.issue).Head)
	script := `check codecov codecov/patch in_progress
finish codecov codecov/patch success
check github-actions report failure merge
status ada ci/merge success merge
rule {"type": "required_signatures"}
rule {"type": "workflows", "parameters": {"workflows": [{"path": "ci.yml", "repository_id": {repo}}]}}
rules forbidden
rules readable
hooks on
workflows late
workflows on
git narrowed
git whole
push ada release more
retarget ada release`
	if err := p.play(script); err != nil {
		t.Fatal(err)
	}
	runs, err := p.Sim.CheckRuns(Repo, head)
	p.must(err)
	if last := runs[len(runs)-1]; last.App != "codecov" || last.Name != "codecov/patch" || last.Conclusion != "success" {
		t.Errorf("the last check run is %+v", last)
	}
	v, err := p.Sim.Pull(Repo, pull)
	p.must(err)
	if v.BaseRef != "release" {
		t.Errorf("the base is %s", v.BaseRef)
	}
	rebased := slices.ContainsFunc(p.Sim.Timeline("pull_request.edited"),
		func(e ghsim.Entry) bool { return e.Actor == Owner && e.Detail == "base" })
	if statuses := p.Sim.Timeline("status"); !rebased || len(statuses) != 1 || statuses[0].SHA == head {
		t.Errorf("the base was changed: %v; statuses %v", rebased, statuses)
	}
	if _, err := p.Sim.MergePull(Repo, pull, Owner); err != nil {
		t.Errorf("the rules of main are not those of release: %v", err)
	}
}

// A bot's push moves the head, with its author.
func TestStepBot(t *testing.T) {
	p := passed(t)
	before := string(p.Task(p.issue).Head)
	if err := p.play("bot pre-commit-ci[bot] head fix skip-ci"); err != nil {
		t.Fatal(err)
	}
	v, err := p.Sim.Pull(Repo, p.Task(p.issue).Pull.Number)
	p.must(err)
	pushes := p.Sim.Timeline("push")
	if v.Head == before || pushes[len(pushes)-1].Actor != "pre-commit-ci[bot]" {
		t.Errorf("head %s, pushes %v", v.Head, pushes)
	}
	if runs, err := p.Sim.CheckRuns(Repo, v.Head); err != nil || len(runs) != 0 {
		t.Errorf("check runs %v %v", runs, err)
	}
}

// The queue runs the workflows for it alone.
func TestStepsOfTheQueue(t *testing.T) {
	p := passed(t)
	if err := p.play("queue ada\nunqueue ada merged"); err != nil {
		t.Fatal(err)
	}
	if v, err := p.Sim.Pull(Repo, p.Task(p.issue).Pull.Number); err != nil || !v.Merged {
		t.Errorf("%+v %v", v, err)
	}
}

// With polling on, each wait polls every two minutes of its clock.
func TestStepLooks(t *testing.T) {
	p := passed(t)
	began := p.Clock.Now()
	if err := p.play("looks on\nwait 3m\nwait 2m\ngraphql fails 1\nlook"); err != nil {
		t.Fatal(err)
	}
	if got := p.Clock.Now().Sub(began); got != 5*time.Minute {
		t.Errorf("%v went by", got)
	}
	if got := p.looks.Sub(began); got != 6*time.Minute {
		t.Errorf("the next look is %v after the beginning, want two minutes after the second", got)
	}
	if err := p.play("looks off"); err != nil || !p.looks.IsZero() {
		t.Errorf("%v, next look %v", err, p.looks)
	}
}

func TestStepsThatAreNone(t *testing.T) {
	p := passed(t)
	for _, line := range []string{"bot ada head fix", "bot x[bot] head nothing", "bot x[bot] head fix loudly",
		"finish codecov nothing success", "rules perhaps", "rule {", "graphql fails", "graphql stops 2",
		"retarget ada nowhere", "unqueue ada", "transfer ada", "workflows sometimes"} {
		if err := p.step(line); err == nil {
			t.Errorf("%q is taken", line)
		}
	}
}
