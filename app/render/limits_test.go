package render_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sia/invalid"
	"github.com/sia-bot/sia/sia/plan"
)

func TestMarkerRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := render.Marker{Task: sia.TaskID(rapid.String().Draw(t, "task")), Kind: rapid.String().Draw(t, "kind"),
			Key: rapid.String().Draw(t, "key")}
		got, ok := render.ParseMarker(want.String() + "\nbody")
		if !ok || got != want {
			t.Fatalf("%s reads as %+v, %v", want, got, ok)
		}
		if strings.Count(want.String(), "--") != 2 {
			t.Fatalf("%s is no HTML comment", want)
		}
	})
}

func TestMarkerCountsOnlyAtTheStart(t *testing.T) {
	m := render.Marker{Task: "4711-12", Kind: "announce", Key: "4711-12/1/announce-v9"}
	if got, want := m.String(), "<!-- sia:v1 task=4711-12 kind=announce key=4711-12/1/announce-v9 -->"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for body, want := range map[string]bool{
		m.String():                              true,
		m.String() + "\nx":                      true,
		m.String() + "\r\nx":                    true,
		" " + m.String():                        false,
		"\n" + m.String():                       false,
		"> " + m.String():                       false,
		m.String() + "x":                        false,
		"<!-- sia:v2 task=a kind=b -->":         false,
		"<!-- sia:v1 task=%zz kind=b key=c -->": false,
		"<!-- sia:v1 task=%41 kind=b key=c -->": false,
		"":                                      false,
	} {
		if _, ok := render.ParseMarker(body); ok != want {
			t.Errorf("%q: %v", body, ok)
		}
	}
}

func FuzzParseMarker(f *testing.F) {
	f.Add(render.Marker{Task: "1-2", Kind: "k", Key: "--"}.String())
	f.Add("<!-- sia:v1 task=% kind=% key=%2D -->")
	f.Fuzz(func(t *testing.T, body string) {
		m, ok := render.ParseMarker(body)
		if ok && !strings.HasPrefix(body, m.String()) {
			t.Fatalf("%q reads as %s", body, m)
		}
	})
}

func TestLongPartsAreShortenedWithANote(t *testing.T) {
	iv := intervention()
	iv.Diagnosis.Prompt = strings.Repeat("Do this and that, then look again.\n", 4000)
	iv.Diagnosis.Answers.Goal = strings.Repeat("goal ", 10_000)
	got := render.Intervention(failed(), iv, links)
	if len(got) > render.MaxBody {
		t.Errorf("%d bytes", len(got))
	}
	for _, want := range []string{"Shortened here", "### Independent review", "### What happens next", "Rate this with",
		"1. **What was the agent trying to do?** goal"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Count(got, "<details>") != strings.Count(got, "</details>") {
		t.Error("a folded part is not closed")
	}
}

// TestOtherPlaces: if several places of a log may explain a failure, the first is shown first.
func TestOtherPlaces(t *testing.T) {
	task, iv := failed(), intervention()
	task.Attempts[0].Failures[0].Others = []string{"error: the cart is empty", "```\n</details>"}
	got := render.Intervention(task, iv, links)
	first, second := strings.Index(got, "the cart is empty"), strings.LastIndex(got, "elsewhere in the log")
	if first < strings.Index(got, strings.Split(task.Attempts[0].Failures[0].Excerpt, "\n")[0]) || second < first {
		t.Errorf("places at %d and %d:\n%s", first, second, got)
	}
	page := toHTML(t, got)
	if strings.Count(page, "<details>") != strings.Count(page, "</details>") {
		t.Error("a place closes the fold that it stands in")
	}
}

// TestShortenedLogStaysCode: a fold that is cut within a log closes the log's fence.
func TestShortenedLogStaysCode(t *testing.T) {
	task, iv := failed(), intervention()
	long := strings.TrimSpace(strings.Repeat(strings.Repeat("🙂", 499)+"\n", 15))
	task.Attempts[0].Failures = nil
	for range 3 {
		task.Attempts[0].Failures = append(task.Attempts[0].Failures,
			sia.CheckFailure{Check: "test", Excerpt: "````\n" + long})
	}
	got := render.Intervention(task, iv, links)
	if len(got) > render.MaxBody || !strings.Contains(got, "Shortened here") {
		t.Fatalf("%d bytes, shortened %v", len(got), strings.Contains(got, "Shortened here"))
	}
	page := toHTML(t, got)
	if strings.Count(page, "<details>") != 2 || strings.Count(page, "</details>") != 2 ||
		!strings.Contains(page, "<h3>The new instructions in full</h3>") {
		t.Errorf("the log swallowed what follows it:\n%s", got[len(got)-3000:])
	}
}

// TestNothingIsLost: text cut in the visible part of a comment is complete further down.
func TestNothingIsLost(t *testing.T) {
	long := func(what string) string {
		return strings.TrimSpace(strings.Repeat(what+" and so on ", 12)) + " to the " + what + "’s end"
	}
	task := escalated()
	task.Warning = long("warning")
	task.Escalation.Question, task.Escalation.Blocker = long("question"), "first line\n"+long("blocker")
	for i := range task.Escalation.Options {
		task.Escalation.Options[i].Text = long(task.Escalation.Options[i].Letter)
	}
	ended := stopped()
	ended.Ended = long("reason")
	held := paused()
	held.Pause.Reason = long("pause")
	failing := failed()
	failing.Attempts[0].Failures[0].Excerpt = long("error")
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"status":  {render.Status(task, links, now), []string{"warning’s end", "question’s end"}},
		"stopped": {render.Status(ended, links, now), []string{"reason’s end"}},
		"paused":  {render.Status(held, links, now), []string{"pause’s end"}},
		"issue": {render.EscalationBody(task, *task.Escalation, links),
			[]string{"question’s end", "blocker’s end", "C’s end"}},
		"ask":       {render.AskComment(task, *task.Escalation), []string{"question’s end", "blocker’s end", "C’s end"}},
		"diagnosis": {render.Intervention(failing, intervention(), links), []string{"error’s end"}},
	} {
		for _, want := range c.want {
			if !strings.Contains(c.body, want) {
				t.Errorf("%s: %q is lost:\n%s", name, want, c.body)
			}
		}
	}
}

func TestWhatCanNotBeFoldedIsCut(t *testing.T) {
	task := escalated()
	for i := range task.Attempts {
		task.Attempts[i].Reason = strings.Repeat("日", 100_000)
		task.Attempts[i].Summary = strings.Repeat("é", 100_000)
	}
	task.Warning = strings.Repeat("warn ", 50_000)
	task.Title = strings.Repeat("t", 5000)
	task.Escalation.Blocker = strings.Repeat("b\n", 100_000)
	for i := range 500 {
		task.Checks = append(task.Checks,
			sia.Check{Name: strings.Repeat("n", 300), Colour: sia.Red, Why: strings.Repeat("w", 1000), Required: i%2 == 0})
	}
	task.Escalation.Plan = &sia.Plan{Summary: strings.Repeat("é ", 100_000)}
	for range 500 {
		task.Escalation.Plan.Steps = append(task.Escalation.Plan.Steps,
			plan.Part{Do: strings.Repeat("d", 1000), DoneWhen: strings.Repeat("w", 1000)})
	}
	task.Brief.Plan = task.Escalation.Plan
	for name, body := range texts(task) {
		if len(body) > render.MaxBody || !utf8.ValidString(body) {
			t.Errorf("%s: %d bytes", name, len(body))
		}
	}
	for _, title := range []string{render.PullTitle(task), render.EscalationTitle(task, *task.Escalation)} {
		if utf8.RuneCountInString(title) > 256 {
			t.Errorf("a title of %d characters", utf8.RuneCountInString(title))
		}
	}
}

// TestButtons checks GitHub's limits on buttons and annotations for every task.
func TestButtons(t *testing.T) {
	for name, task := range moments() {
		v := render.CheckRun(task, inTree(task), links)
		if len(v.Actions) > 3 || len(v.Annotations) > 50 {
			t.Errorf("%s: %d buttons, %d annotations", name, len(v.Actions), len(v.Annotations))
		}
		for _, a := range v.Actions {
			if utf8.RuneCountInString(a.Label) > 20 || utf8.RuneCountInString(a.Description) > 40 || len(a.Identifier) > 20 {
				t.Errorf("%s: %+v is too long", name, a)
			}
		}
		if (v.Status == "completed") != (v.Conclusion != "") {
			t.Errorf("%s: %s with conclusion %q", name, v.Status, v.Conclusion)
		}
		if (v.Conclusion == "success") != (task.State == sia.Passed) {
			t.Errorf("%s: conclusion %q in state %s", name, v.Conclusion, task.State)
		}
		if working := render.LabelFor(task) == render.LabelWorking; working == (v.Status == "completed") {
			t.Errorf("%s: label %s beside a check run that is %s", name, render.LabelFor(task), v.Status)
		}
	}
}

func TestLabels(t *testing.T) {
	names := map[string]bool{}
	for _, l := range render.Labels("help-me") {
		if len(l.Description) > 100 || len(l.Color) != 6 || l.Name == "" || names[l.Name] {
			t.Errorf("%+v", l)
		}
		names[l.Name] = true
	}
	for _, s := range append(render.StateLabels(), "help-me") {
		if !names[s] {
			t.Errorf("%s is not created", s)
		}
	}
	for _, task := range moments() {
		if !names[render.LabelFor(task)] {
			t.Errorf("%s: label %q is not created", task.State, render.LabelFor(task))
		}
	}
	if got := render.LabelFor(sia.Task{State: sia.Passed, Aftermath: sia.Abandoned}); got != render.LabelStopped {
		t.Errorf("a pull request that was closed unmerged leaves the label %s, which says that it is ready for review", got)
	}
}

// TestStatusIsSteady: a change of the text edits the comment, so it must not change from minute to minute.
func TestStatusIsSteady(t *testing.T) {
	task := working()
	if d := cmp.Diff(render.Status(task, links, clock(61)), render.Status(task, links, clock(119))); d != "" {
		t.Error(d)
	}
}

func TestAddressesOfStrangers(t *testing.T) {
	task := checking()
	for _, address := range []string{"javascript:alert(1)", "https://e.vil/)[x](y", "https://user:pw@e.vil", "//e.vil",
		"data:text/html,x", "http://[::1"} {
		task.Checks = []sia.Check{{Name: "c", Colour: sia.Red, URL: address, Required: true}}
		if body := render.PullBody(task, nil, links); strings.Contains(body, "`c`](") {
			t.Errorf("%s became a link", address)
		}
	}
}

func TestConfigCheckRun(t *testing.T) {
	_, err := config.Parse(config.Path,
		[]byte("labels: x\nsia: {max_approaches: 90}\nagent: {kind: \"@everyone <!-- x\"}\n"))
	var invalid *invalid.File
	if !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	v := render.ConfigCheckRun(invalid.Problems)
	golden(t, "check/config.md", v.Title+"\n\n"+v.Summary)
	if v.Conclusion != "failure" || len(v.Annotations) != 3 || v.Annotations[1].Line != 2 {
		t.Errorf("%+v", v)
	}
	if v := render.ConfigCheckRun(nil); v.Conclusion != "success" {
		t.Errorf("%+v", v)
	}
}

// TestBoardSaysHowManyMore: when titles and questions exceed GitHub's limit, the dashboard shows complete tasks and
// counts the others, in each list, and keeps what follows.
func TestBoardSaysHowManyMore(t *testing.T) {
	var v render.Board
	for i := range 120 {
		task := working()
		if i%2 == 0 {
			task = escalated()
			task.Escalation.Question = strings.Repeat("予約", 200)
		}
		task.Issue, task.Title = i+1, strings.Repeat("予約確認", 60)
		v.Tasks = append(v.Tasks, task)
		done := passed()
		done.Title, done.Pull.Number, done.Since = task.Title, 1000-i, now.AddDate(0, 0, -i)
		v.Ready = append(v.Ready, done)
	}
	left := passed()
	left.Issue, left.Pull.Draft, left.Pull.LeftDraft = 0, true, true
	v.Tasks = append(v.Tasks, left)
	change := policyChange("proposed")
	change.Pull = 77
	v.Changes = append(v.Changes, change)
	body := render.BoardBody(v, links)
	if len(body) > render.MaxBody || strings.Contains(body, "Shortened") || !strings.Contains(body, "pause all") {
		t.Errorf("%d bytes, and it ends with %q", len(body), body[len(body)-200:])
	}
	_, lists, _ := strings.Cut(body, "### Waits for you")
	waiting, rest, _ := strings.Cut(lists, "### Ready to review")
	ready, rest, _ := strings.Cut(rest, "### Under way")
	underWay, _, _ := strings.Cut(rest, "### Costs")
	draft, waiting, _ := strings.Cut(waiting, "\n\n**[#1]")
	if !strings.Contains(draft, "is green, and a draft because somebody made it one.") {
		t.Errorf("a draft is missing:\n%s", draft)
	}
	waiting, changes, _ := strings.Cut("**[#1]"+waiting, "**[#77]")
	if !strings.Contains(changes, "Policy recover: parameters.base.retry: 0.1 -> 0.3**  \nA 👍 on SIA's comment") {
		t.Errorf("a change of a policy is missing:\n%s", changes)
	}
	for name, list := range map[string]string{"waiting": waiting, "under way": underWay} {
		rows, boxes := strings.Count(list, "**[#"), strings.Count(list, "- [ ] ")
		if want := fmt.Sprintf("And %d more tasks.", 60-rows); rows == 0 || boxes != 2*rows || !strings.Contains(list, want) {
			t.Errorf("%s: %d tasks with %d boxes, and not %q", name, rows, boxes, want)
		}
	}
	rows := strings.Count(ready, "- **[#")
	if want := fmt.Sprintf("And %d more tasks.", 120-rows); rows == 0 || !strings.Contains(ready, want) ||
		!strings.HasPrefix(strings.TrimSpace(ready), "- **[#881]") { // the longest wait first
		t.Errorf("ready to review: %d tasks, and not %q:\n%s", rows, want, ready[:min(len(ready), 300)])
	}
}
