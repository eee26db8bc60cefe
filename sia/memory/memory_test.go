package memory_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/memory"
	"github.com/sia-bot/sia/sia/plan"
)

var update = flag.Bool("update", false, "write the golden files anew")

func ptr[T any](v T) *T { return &v }

// story returns the demo's first task after it passed.
func story() sia.Task {
	begin := time.Date(2026, 3, 1, 9, 0, 0, 0, time.FixedZone("CET", 3600))
	return sia.Task{
		ID: sia.NewTaskID(99, 1), Repo: sia.Repo{ID: 99, Owner: "acme", Name: "bookings"}, Issue: 1,
		Title: "Send a confirmation email when a booking is made",
		Body: "The guest gets an email with the date.\n\n```go\n// see <Booking> & friends\n```\n" +
			"<!-- a template's comment -->",
		CreatedAt: begin, State: sia.Passed, Head: "2222222222222222222222222222222222222222",
		Attempts: []sia.Attempt{
			{
				Number: 1, StartedAt: begin, EndedAt: begin.Add(3*time.Minute + 14*time.Second), Agent: "builtin/gpt-5",
				PromptHash: "aaaaaaaaaaaaaaaa",
				Outcome:    sia.AttemptFail, Head: "1111111111111111111111111111111111111111", Cost: 1250,
				Failures: []sia.CheckFailure{
					{Check: "test", Excerpt: "--- FAIL: TestCreate\n    mail_test.go:12: MAIL_API_KEY is not set", Signature: "s2",
						Tests: []string{"TestCreate"}},
					{Check: "race", Excerpt: "", Signature: "s1"},
				},
				Signals: []sia.Signal{{Name: sia.SameTask, Evidence: "attempt 1 ended without passing"}},
				Ledger: &sia.AttemptLedger{Version: sia.LedgerVersion, Dropped: 1,
					Entries: []sia.LedgerEntry{{Kind: sia.LedgerDeadEnd, Says: "A <default> key.",
						For: []sia.Trace{{Ran: "go test ./mail", Ended: "exit status 1", Turn: 2}}}},
					Ran: []sia.RanCommand{{Command: "go test ./mail", Ended: "exit status 1", Turn: 2}}},
			},
			{Number: 2, StartedAt: begin.Add(5 * time.Minute), EndedAt: begin.Add(7 * time.Minute), Agent: "builtin/gpt-5",
				PromptHash: "bbbbbbbbbbbbbbbb", Technique: sia.AbstractionLevelShift, Outcome: sia.AttemptPass,
				Head: "2222222222222222222222222222222222222222", Cost: 900},
		},
		Prompts: []sia.Prompt{{Version: 1, Hash: "aaaaaaaaaaaaaaaa", Outcome: sia.AttemptFail},
			{Version: 2, Hash: "bbbbbbbbbbbbbbbb", Technique: sia.AbstractionLevelShift, Outcome: sia.AttemptPass}},
		Interventions: []sia.Intervention{{
			Number: 1, After: 1, Resolved: ptr(true), Review: sia.Review{Verdict: sia.Approved},
			Signals: []sia.Signal{{Name: sia.SameTask, Evidence: "attempt 1 ended without passing"},
				{Name: sia.NoProgress, Evidence: "no check is green that was not before"}},
			Diagnosis: sia.Diagnosis{
				Summary: "The provider's key is not in the environment.", Pattern: sia.MissingCredentials,
				Technique:  sia.AbstractionLevelShift,
				Prompt:     "Put an interface in front.\n\n```go\ntype Sender interface{}\n```\n",
				Hypothesis: "TestCreate passes without <a key>.", Confidence: 0.85,
				Ratings: sia.Ratings{sia.AbstractionLevelShift: 0.85, sia.FreshStart: 0},
			},
		}},
		Ratings: []sia.Rating{
			{By: sia.Actor{Login: "ana", ID: 3}, Intervention: 1, Good: true},
			{By: sia.Actor{Login: "bob", ID: 4}, Intervention: 1},
			{By: sia.Actor{Login: "ana", ID: 3}, Good: true},
		},
		Aftermath: sia.MergedEdited,
		Final: &sia.FinalReview{SHA: "2222222222222222222222222222222222222222", Done: true,
			URL:     "https://github.com/o/n/pull/3#pullrequestreview-5",
			Demands: []sia.Demand{{Quote: "a guest gets an email", State: sia.DemandUnmet, Why: "nobody gets one yet"}}},
	}
}

func links() memory.Links {
	return memory.Links{
		Transcripts: map[int]string{1: ".sia/transcripts/1/1.md"}, Decisions: map[int][]string{1: {"d-1", "d-2"}},
		Log: memory.Log{Decisions: []json.RawMessage{json.RawMessage(`{"id":"d-1"}`)},
			Outcomes: []json.RawMessage{json.RawMessage(`{"z":0.5}`)}},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Error(d)
	}
}

// inParts returns the story with attempts of several runs: parts of a plan, and a race.
func inParts() sia.Task {
	t := story()
	a := &t.Attempts[0]
	a.Coder, a.Assigned = "fast", "fast is expected to resolve this task with a chance of 61 %"
	a.Structure, a.Shape, a.Parallel = plan.Parallel, "the issue asks for things that don't touch each other", 2
	a.Parts = []sia.Part{
		{Part: plan.Part{Do: "Add a `Mailer`", DoneWhen: "`go build ./mail` passes", Check: "go build ./mail"},
			State: sia.PartDone, Checked: &sia.CheckRun{Command: "go build ./mail", Holds: true}, Cost: 250, Run: 1},
		{Part: plan.Part{Do: "Call it <here>", DoneWhen: "TestCreate passes", Check: "go test ./...", Needs: []int{1}},
			State: sia.PartGivenUp, Coder: "strong", Assigned: "fast failed at it", Failed: []string{"fast", "strong"}, Tries: 2,
			Checked: &sia.CheckRun{Command: "go test ./...", Excerpt: "--- FAIL: TestCreate"}, Cost: 1000, Run: 3},
		{Part: plan.Part{Do: "Say so in the docs", DoneWhen: "docs/mail.md names it", Needs: []int{1}}, State: sia.PartDone,
			Checked: &sia.CheckRun{Missing: "there is no sandbox"}, Run: 4},
	}
	a = &t.Attempts[1]
	a.Structure, a.Shape, a.Coder = plan.Race, "one alone has a chance of 31 %", "strong"
	for i, coder := range []string{"fast", "strong"} {
		a.Parts = append(a.Parts, sia.Part{Kind: sia.PartRacer, State: sia.PartDone, Coder: coder, Pushed: i == 1,
			Checked: &sia.CheckRun{Command: "go test ./...", Holds: i == 1}, Cost: 450, Run: i + 1})
	}
	return t
}

func TestGolden(t *testing.T) {
	t.Run("story", func(t *testing.T) { goldenFiles(t, "story", story()) })
	t.Run("parts", func(t *testing.T) { goldenFiles(t, "parts", inParts()) })
}

// goldenFiles compares both files of a task.
func goldenFiles(t *testing.T, name string, task sia.Task) {
	t.Helper()
	j, err := memory.JSON(task, links(), nil)
	if err != nil {
		t.Fatal(err)
	}
	record := regexp.MustCompile(`(?s),\n  "record": \{.*\n\}`) // the whole task; TestRebuild reads it
	if !record.Match(j) {
		t.Error("the file has no record")
	}
	golden(t, name+".json", record.ReplaceAll(j, []byte("\n}")))
	m, err := memory.Markdown(task, links(), nil)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, name+".md", m)
}

// The final review's remarks on the head are remembered, and a failed review; a review without remarks is not.
func TestFinalReview(t *testing.T) {
	for want, change := range map[string]func(*sia.FinalReview){
		"0 of 1 requirements done":  func(*sia.FinalReview) {},
		"failed: the model is down": func(r *sia.FinalReview) { r.Why, r.Demands = "the model is down", nil },
		"":                          func(r *sia.FinalReview) { r.Demands = nil },
	} {
		task := story()
		change(task.Final)
		if got := memory.FromTask(task, memory.Links{}).FinalReview; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPaths(t *testing.T) {
	md, js := memory.Paths(story())
	got := []string{md, js, memory.TranscriptPath(story(), 2)}
	if d := cmp.Diff([]string{".sia/tasks/1.md", ".sia/tasks/1.json", ".sia/transcripts/1/2.md"}, got); d != "" {
		t.Error(d)
	}
}

// TestVersion1: a file of version 1 is read with the same content and rewritten in the structure of version 2. A user's
// additions stay with the diagnosis.
func TestVersion1(t *testing.T) {
	old, err := os.ReadFile("testdata/version1.json")
	if err != nil {
		t.Fatal(err)
	}
	want, err := memory.JSON(story(), links(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := memory.JSON(story(), links(), old)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("written over (-want +got):\n%s", d)
	}
	newest, err := memory.ParseJSON("1.json", want)
	if err != nil {
		t.Fatal(err)
	}
	read, err := memory.ParseJSON("1.json", old)
	if err != nil {
		t.Fatal(err)
	}
	newest.Record = nil // there was none yet
	// as the signal was called
	newest.Attempts[0].Signals[1] = "no progress on the criteria: no check is green that was not before"
	if d := cmp.Diff(newest, read); d != "" {
		t.Errorf("read (-want +got):\n%s", d)
	}
	noted := bytes.Replace(old, []byte(`"technique_applied"`), []byte(`"note": "mine", "technique_applied"`), 1)
	if got, err = memory.JSON(story(), links(), noted); err != nil {
		t.Fatal(err)
	}
	var f struct {
		Attempts []struct {
			Found, Changed map[string]any
		}
	}
	named := strings.NewReplacer("diagnosis_after", "found", "sia_intervention", "changed").Replace(string(got))
	if err := json.Unmarshal([]byte(named), &f); err != nil {
		t.Fatal(err)
	}
	if f.Attempts[0].Found["note"] != "mine" || f.Attempts[1].Changed["note"] != nil {
		t.Errorf("the note is in\n%s", got)
	}
}

func TestUnknownSurvives(t *testing.T) {
	first, err := memory.JSON(story(), links(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(first, &tree); err != nil {
		t.Fatal(err)
	}
	tree["team"] = map[string]any{"name": "core", "size": 3.0}
	delete(tree, "head_sha")
	attempts := tree["attempts"].([]any)
	a := attempts[0].(map[string]any)
	a["note"] = "look here"
	a["outcome"] = "error" // ours wins
	a["diagnosis_after"].(map[string]any)["liked_by"] = []any{"ana"}
	tree["ratings"].([]any)[0].(map[string]any)["why"] = "it saved a day"
	bob := a["diagnosis_after"].(map[string]any)["ratings"].([]any)[1].(map[string]any)
	bob["why"], bob["good"] = "too long", true // ours wins
	tree["attempts"] = append(attempts,
		map[string]any{"attempt_number": 7.0, "agent_version": "other", "system_prompt_hash": "x", "failure_point": "",
			"duration_minutes": 1.0, "credits_consumed": 2.0, "sia_intervention": nil})
	tree["learnings"] = append(tree["learnings"].([]any),
		map[string]any{"pattern": "environment", "effective_technique": "by hand", "specific_insight": "install it",
			"confidence": 1.0})
	previous, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	second, err := memory.JSON(story(), memory.Links{}, previous)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(second, &got); err != nil {
		t.Fatal(err)
	}
	tree["head_sha"] = string(story().Head)
	a["outcome"], bob["good"] = "fail", false
	if d := cmp.Diff(tree, got); d != "" {
		t.Error(d)
	}
	third, err := memory.JSON(story(), memory.Links{}, second)
	if err != nil || string(third) != string(second) {
		t.Errorf("writing again changed the file (%v):\n%s", err, cmp.Diff(string(second), string(third)))
	}
}

func TestForeignSectionsSurvive(t *testing.T) {
	first, err := memory.Markdown(story(), links(), nil)
	if err != nil {
		t.Fatal(err)
	}
	notes := "## Notes\n\nAna looked at this.\n\n### A detail\n\n```\n## Learnings\n```\n\n```make``` helps.\n\n" +
		"## More\n\n- x\n"
	edited := strings.Replace(string(first), "## Learnings\n", notes+"\n## Learnings\n", 1)
	second, err := memory.Markdown(story(), links(), []byte(edited))
	if err != nil {
		t.Fatal(err)
	}
	if want := string(first) + "\n" + notes; string(second) != want {
		t.Error(cmp.Diff(want, string(second)))
	}
	third, err := memory.Markdown(story(), links(), second)
	if err != nil || string(third) != string(second) {
		t.Errorf("writing again changed the file (%v):\n%s", err, cmp.Diff(string(second), string(third)))
	}
}

func TestBrokenFileIsKept(t *testing.T) {
	good, err := memory.JSON(story(), links(), nil)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(old, new string) string {
		if !strings.Contains(string(good), old) {
			t.Fatalf("no %q in the file", old)
		}
		return strings.Replace(string(good), old, new, 1)
	}
	for _, tt := range []struct {
		name, file, want string
		line             int
	}{
		{"a comma is missing", edit(`"repo": "acme/bookings",`, `"repo": "acme/bookings"`), "invalid character", 5},
		{"a word for a number", edit(`"issue": 1,`, `"issue": "one",`), "issue can't be a JSON string", 5},
		{"a word for an attempt", edit(`"attempt_number": 1,`, `"attempt_number": "1",`),
			"attempts.attempt_number can't be a JSON string", 12},
		{"an attempt without a number", edit(`"attempt_number": 1,`, ``), "attempts[0] has no attempt_number", 0},
		{"newer", edit(`"schema_version": 2`, `"schema_version": 3`), "update SIA", 0},
		{"a field is gone", edit(`"task_id": "99-1",`, ``), "task_id", 0},
		{"no attempts", edit(`"attempts": [`, `"tries": [`), "attempts is missing", 0},
		{"an unknown status", edit(`"status": "passed"`, `"status": "done"`), `status: "done" is none of queued, `, 0},
		{"an unknown outcome", edit(`"outcome": "fail"`, `"outcome": "by hand: flaky runner"`),
			`attempts[0].outcome: "by hand: flaky runner" is none of pass, fail, `, 0},
		{"an unknown aftermath", edit(`"aftermath": "edited"`, `"aftermath": "sold"`),
			`aftermath: "sold" is none of merged, edited, abandoned`, 0},
		{"not a time", edit(`"2026-03-01T08:00:00Z"`, `"yesterday"`), "yesterday", 0},
		{"a conflict", "<<<<<<< HEAD\n" + string(good), "invalid character", 1},
		{"half a file", string(good[:len(good)/2]), "unexpected end", 1 + strings.Count(string(good[:len(good)/2]), "\n")},
		{"a list", "[]", "the file can't be a JSON array", 1},
		{"no object", "null", "task_id", 0},
		{"not text", "\xff", "UTF-8", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := memory.JSON(story(), links(), []byte(tt.file))
			var broken *memory.BrokenFile
			if !errors.As(err, &broken) || out != nil {
				t.Fatalf("got %q, %v; want a broken file and nothing to write", out, err)
			}
			if broken.Path != ".sia/tasks/1.json" || broken.Line != tt.line || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v (line %d), want line %d and %q", err, broken.Line, tt.line, tt.want)
			}
		})
	}

	// SIA's own values are written again.
	for old, changed := range map[string]string{`"outcome": "fail"`: `"outcome": "error"`,
		`"aftermath": "edited"`: `"aftermath": "merged"`, `"confidence": 0.85`: `"confidence": 85`} {
		got, err := memory.JSON(story(), links(), []byte(edit(old, changed)))
		if d := cmp.Diff(string(good), string(got)); err != nil || d != "" {
			t.Errorf("%s: %v %s", changed, err, d)
		}
	}

	md, err := memory.Markdown(story(), links(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, old, new, want string }{
		{"a conflict", "- **Issue:** 1", "<<<<<<< HEAD\n- **Issue:** 1", "merge conflict"},
		{"an open fence", string(md)[strings.Index(string(md), "  // see"):], "", "not closed"},
		{"not text", "## Learnings", "## \xff", "UTF-8"},
		{"a newer schema", "- **Schema:** 2", "- **Schema:** 9", "update SIA"},
	} {
		t.Run("md "+tt.name, func(t *testing.T) {
			file := strings.Replace(string(md), tt.old, tt.new, 1)
			if file == string(md) {
				t.Fatalf("no %q in the file", tt.old)
			}
			_, err := memory.Markdown(story(), links(), []byte(file))
			var broken *memory.BrokenFile
			if !errors.As(err, &broken) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want a broken file: %q", err, tt.want)
			}
		})
	}
}

func TestInterventionBeingPrepared(t *testing.T) {
	task := story()
	next := task.Interventions[0]
	task.Interventions, task.Next, task.State, task.Attempts = nil, &next, sia.Reviewing, task.Attempts[:1]
	next.Resolved = nil
	f := memory.FromTask(task, memory.Links{})
	d := f.Attempts[0].DiagnosisAfter
	if d == nil || d.Technique != sia.AbstractionLevelShift || d.PromptModification == "" {
		t.Error("memory is committed before the comment, so it must hold the intervention that is being prepared")
	}
	if len(f.Learnings) != 0 {
		t.Errorf("nothing is learned yet, but got %v", f.Learnings)
	}
}

func TestLearnings(t *testing.T) {
	got := memory.Learnings(story())
	want := []memory.Learning{{
		Pattern: sia.MissingCredentials, EffectiveTechnique: "abstraction-level-shift", Confidence: 0.85,
		SpecificInsight: "credentials missing → abstract behind an interface and use a local double (check test failed: " +
			"mail_test.go:12: MAIL_API_KEY is not set)",
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}

	failed := story()
	failed.Interventions[0].Resolved = ptr(false)
	failed.State = sia.Stopped
	if got := memory.Learnings(failed); len(got) != 0 {
		t.Errorf("nothing was resolved, but learned %v", got)
	}

	answered := story()
	answered.Interventions[0].Resolved = ptr(false)
	answered.Escalation = &sia.Escalation{Question: "Which provider?", Options: []sia.Option{{Letter: "A", Text: "One"}}}
	answered.Answers = []sia.Answer{{Letter: "A"}}
	if got := memory.Learnings(answered); len(got) != 1 || got[0].EffectiveTechnique != memory.LearnedAnswer ||
		!strings.Contains(got[0].SpecificInsight, "“One”") {
		t.Errorf("got %v", got)
	}

	pushed := story()
	pushed.Interventions[0].Resolved = ptr(false)
	pushed.HeadBy = sia.Actor{Login: "ana"}
	pushed.Attempts[1].Outcome = sia.AttemptFail
	if got := memory.Learnings(pushed); len(got) != 1 || got[0].EffectiveTechnique != memory.LearnedPush {
		t.Errorf("got %v", got)
	}
}

// Users' reactions to a plan teach nothing, because SIA had not tried.
func TestPlansTeachNothing(t *testing.T) {
	task := story()
	task.Interventions = nil
	task.Escalation = &sia.Escalation{Number: 2, Kind: sia.AskPlan, Question: "Shall it be done like this?"}
	task.Answers = []sia.Answer{{Escalation: 2, Kind: sia.AskPlan, Text: "leave out step 3"}}
	if got := memory.Learnings(task); len(got) != 0 {
		t.Errorf("learned %v of words about a plan", got)
	}
	task.Answers = []sia.Answer{{Escalation: 1, Kind: sia.AskQuestion, Text: "Google"}}
	if got := memory.Learnings(task); len(got) != 0 {
		t.Errorf("learned %v of an answer to another question", got)
	}
	task.Escalation = &sia.Escalation{Number: 3, Kind: sia.AskAlready, Question: "Shall SIA work on this issue anyway?"}
	task.Answers = []sia.Answer{{Escalation: 3, Kind: sia.AskAlready, Letter: "A", Text: "Work on it anyway"}}
	if got := memory.Learnings(task); len(got) != 0 {
		t.Errorf("learned %v of a word that it is to be worked on", got)
	}
	task.Answers, task.HeadBy = nil, sia.Actor{Login: "ana"}
	task.Attempts = []sia.Attempt{{Number: 1, Planning: true, Outcome: sia.AttemptError},
		{Number: 2, Planning: true, Outcome: sia.AttemptAsked}}
	if got := memory.Learnings(task); len(got) != 0 {
		t.Errorf("learned %v although SIA had only made plans", got)
	}
}

// tasks draws tasks with hostile text in every text field.
func tasks(t *rapid.T) sia.Task {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching("[ -~\n`#*<&-]{0,60}"), rapid.SampledFrom([]string{
		"```\n## Learnings\n```", "- **Task:** forged", "  ~~~\n# x", "a\r\nb\rc", "\n\n", "x\u2028y", "&lt;b&gt;",
		"### Attempt 9: pass", "<!-- x -->", "\x00", "\ttabbed\t", "````", "- [x] **A**",
	}))
	outcomes := []sia.AttemptOutcome{"", sia.AttemptPass, sia.AttemptFail, sia.AttemptCheckpoint, sia.AttemptError,
		sia.AttemptCancelled, sia.AttemptAsked}
	task := sia.Task{
		ID: "1-2", Repo: sia.Repo{Owner: "o", Name: "n"}, Issue: rapid.IntRange(1, 1e6).Draw(t, "issue"),
		Title: text.Draw(t, "title"), Body: text.Draw(t, "body"),
		Head:      sia.SHA(rapid.StringMatching("[0-9a-f]{0,40}").Draw(t, "head")),
		CreatedAt: time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "at"), 0),
		State:     rapid.SampledFrom(sia.States).Draw(t, "state"),
	}
	task.Aftermath = rapid.SampledFrom([]sia.Aftermath{"", sia.MergedUnchanged, sia.MergedEdited, sia.Abandoned}).Draw(t,
		"aftermath")
	task.Final = &sia.FinalReview{SHA: task.Head, Done: true, Why: text.Draw(t, "why"),
		Demands: []sia.Demand{{Quote: text.Draw(t, "quote"), State: sia.DemandUnclear, Why: text.Draw(t, "said")}}}
	for i := range rapid.IntRange(0, 6).Draw(t, "ratings") {
		task.Ratings = append(task.Ratings,
			sia.Rating{By: sia.Actor{Login: text.Draw(t, "login"), ID: int64(i)},
				Intervention: rapid.IntRange(0, 3).Draw(t, "of"), Good: rapid.Bool().Draw(t, "good")})
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "attempts") {
		a := sia.Attempt{Number: i + 1, Agent: text.Draw(t, "agent"), PromptHash: text.Draw(t, "hash"),
			Reason: text.Draw(t, "reason"), Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome"),
			Cost: sia.Credits(rapid.IntRange(0, 1e6).Draw(t, "cost")), Planning: rapid.Bool().Draw(t, "planning")}
		a.Coder, a.Assigned, a.Shape = text.Draw(t, "coder"), text.Draw(t, "assigned"), text.Draw(t, "shape")
		a.Structure = rapid.SampledFrom([]plan.Structure{"", plan.Whole, plan.Reproduce, plan.Linear, plan.Parallel,
			plan.Hierarchical, plan.Race}).Draw(t, "structure")
		for n := range rapid.IntRange(0, 3).Draw(t, "parts") {
			p := sia.Part{Coder: text.Draw(t, "part coder"), Assigned: text.Draw(t, "why"), Reason: text.Draw(t, "ended"),
				Part: plan.Part{Do: text.Draw(t, "do"), DoneWhen: text.Draw(t, "done when"), Check: text.Draw(t, "command")},
				Kind: rapid.SampledFrom([]sia.PartKind{sia.PartOfPlan, sia.PartTest, sia.PartRacer, sia.PartMerge,
					sia.PartMend}).Draw(t, "kind"),
				State: rapid.SampledFrom([]sia.PartState{sia.PartWaiting, sia.PartRunning, sia.PartFailed, sia.PartDone,
					sia.PartGivenUp}).Draw(t, "part state"),
				Tries: rapid.IntRange(0, 5).Draw(t, "tries"), Pushed: rapid.Bool().Draw(t, "pushed"),
				Cost: sia.Credits(rapid.IntRange(0, 1e6).Draw(t, "part cost"))}
			if n > 0 {
				p.Needs = []int{n}
			}
			if rapid.Bool().Draw(t, "checked") {
				p.Checked = &sia.CheckRun{Command: p.Check, Holds: rapid.Bool().Draw(t, "holds"),
					Missing: rapid.SampledFrom([]string{"", "no command"}).Draw(t, "missing")}
			}
			a.Parts = append(a.Parts, p)
		}
		a.StartedAt = task.CreatedAt
		a.EndedAt = a.StartedAt.Add(time.Duration(rapid.IntRange(-5, 10_000).Draw(t, "seconds")) * time.Second)
		for range rapid.IntRange(0, 3).Draw(t, "failures") {
			a.Failures = append(a.Failures,
				sia.CheckFailure{Check: text.Draw(t, "check"), Excerpt: text.Draw(t, "excerpt"),
					Signature: text.Draw(t, "signature")})
		}
		if rapid.Bool().Draw(t, "intervened") {
			iv := sia.Intervention{Number: len(task.Interventions) + 1, After: a.Number,
				Review: sia.Review{Verdict: rapid.SampledFrom([]sia.Verdict{"", sia.Approved, sia.Minor, sia.Major, sia.Rejected,
					sia.ReviewOff, sia.ReviewFailed}).Draw(t, "verdict")}}
			iv.Diagnosis = sia.Diagnosis{Summary: text.Draw(t, "summary"),
				Pattern: rapid.SampledFrom(sia.Patterns).Draw(t, "pattern"), Technique: sia.FreshStart,
				Prompt: text.Draw(t, "prompt"), Hypothesis: text.Draw(t, "hypothesis"),
				Confidence: rapid.Float64().Draw(t, "confidence")}
			iv.Signals = []sia.Signal{{Name: sia.SameError, Evidence: text.Draw(t, "evidence")}}
			if rapid.Bool().Draw(t, "judged") {
				iv.Resolved = ptr(rapid.Bool().Draw(t, "resolved"))
			}
			task.Interventions = append(task.Interventions, iv)
		}
		task.Attempts = append(task.Attempts, a)
		task.Prompts = append(task.Prompts,
			sia.Prompt{Version: i + 1, Hash: "h" + text.Draw(t, "prompt hash"), Outcome: a.Outcome, Technique: a.Technique})
	}
	return task
}

// headings are the headings of a task's Markdown in order, without the title.
func headings(f memory.File) []string {
	want := []string{"## Task details", "## Attempt history"}
	for _, a := range f.Attempts {
		outcome := string(a.Outcome)
		if outcome == "" {
			outcome = "not judged yet"
		}
		want = append(want, fmt.Sprintf("### Attempt %d: %s", a.AttemptNumber, outcome))
		if a.DiagnosisAfter != nil {
			want = append(want, "#### What SIA found")
		}
	}
	want = append(want, "## Learnings")
	for i := range f.Learnings {
		want = append(want, fmt.Sprintf("### Learning %d", i+1))
	}
	want = append(want, "## Prompts tried")
	for _, p := range f.PromptsTried {
		want = append(want, fmt.Sprintf("### Prompt %d", p.Version))
	}
	return want
}

// headingLines returns the lines of a Markdown file that begin with "#", without the first. Texts of a task are
// indented or follow a field's name, so none of them begins a line.
func headingLines(md []byte) []string {
	var found []string
	for i, l := range strings.Split(string(md), "\n") {
		if i > 0 && strings.HasPrefix(l, "#") {
			found = append(found, l)
		}
	}
	return found
}

// TestRoundTrip: parsing the JSON returns the same file for any texts. Updating both files again leaves them unchanged.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		task := tasks(t)
		l := memory.Links{Transcripts: map[int]string{1: ".sia/transcripts/1/1.md", 2: "[a](b)"},
			Decisions: map[int][]string{1: {"x", "y"}}}
		want := memory.FromTask(task, l)
		j, err := memory.JSON(task, l, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := memory.ParseJSON("f.json", j)
		if err != nil {
			t.Fatal(err)
		}
		again, err := memory.JSON(task, l, j)
		if err != nil || string(again) != string(j) {
			t.Fatalf("writing again changed the file (%v): %s", err, cmp.Diff(string(j), string(again)))
		}
		want.Record, got.Record = nil, nil // see TestRebuild
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal("JSON: ", d)
		}
		md := want.Markdown()
		if d := cmp.Diff(headings(want), headingLines(md)); d != "" {
			t.Fatalf("Markdown: a text of the task made or hid a heading: %s\n%s", d, md)
		}
		again, err = memory.Markdown(task, l, md)
		if err != nil || string(again) != string(md) {
			t.Fatalf("writing again changed the file (%v): %s", err, cmp.Diff(string(md), string(again)))
		}
	})
}

func FuzzParseJSON(f *testing.F) {
	seed, err := memory.JSON(story(), links(), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"attempts":[{"attempt_number":1e400}]}`))
	f.Add([]byte(`{"schema_version":1,"task_id":"1","attempts":[null]}`))
	f.Add([]byte(`{"schema_version":2,"task_id":"1","attempts":[{"attempt_number":1,"parts":null,"x":[]}],"y":1,
		"learnings":[null,{"pattern":[]}],"prompts_tried":null,"ratings":[null],"record":null,"issue":null}`))
	f.Add([]byte(`{"schema_version":2,"task_id":"1","attempts":[{"attempt_number":1,"diagnosis_after":{"ratings":[null]},
		"parts":[{"number":1}]},{"attempt_number":1}],"learnings":[{},null],"ratings":[{}],"Record":{"task":{}}}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		if _, err := memory.ParseJSON("f.json", file); err != nil {
			var broken *memory.BrokenFile
			if !errors.As(err, &broken) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		// What can be read can be written over, and what was there is still valid.
		out, err := memory.JSON(story(), links(), file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := memory.ParseJSON("f.json", out); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	})
}

func FuzzMarkdown(f *testing.F) {
	f.Add(memory.FromTask(story(), links()).Markdown())
	f.Add([]byte("## Task details\n- **Task:**\n\n  ```text\n"))
	f.Add([]byte("## Notes\n```\n## Learnings\n\n<<<<<<< HEAD\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		out, err := memory.Markdown(story(), links(), file)
		if err != nil {
			var broken *memory.BrokenFile
			if !errors.As(err, &broken) || out != nil {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		again, err := memory.Markdown(story(), links(), out)
		if err != nil || string(again) != string(out) {
			t.Fatalf("%v\n%s", err, cmp.Diff(string(out), string(again)))
		}
	})
}
