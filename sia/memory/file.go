package memory

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sia/text"
)

// SchemaVersion is the version of the files that this package writes. Files of
// a later version are not read, and not written over. Those of version 1 are read ([upgraded]).
const SchemaVersion = 2

// File is what is remembered of one task, as its JSON file spells it.
type File struct {
	SchemaVersion   int        `json:"schema_version"`
	TaskID          sia.TaskID `json:"task_id"`
	Repo            string     `json:"repo"` // owner/name
	Issue           int        `json:"issue"`
	TaskDescription string     `json:"task_description"` // the title, an empty line, the body
	CreatedAt       time.Time  `json:"created_at"`
	Status          sia.State  `json:"status"`
	HeadSHA         string     `json:"head_sha,omitempty"`
	Attempts        []Attempt  `json:"attempts"`
	Learnings       []Learning `json:"learnings"`
	PromptsTried    []Prompt   `json:"prompts_tried"`

	Aftermath sia.Aftermath `json:"aftermath,omitempty"` // what people did with the pull request; absent until they did
	Ratings   []Rating      `json:"ratings,omitempty"`   // of the task as a whole
	// what a fresh reviewer said of the head, in a few words; absent where that was nothing
	FinalReview string `json:"final_review,omitempty"`

	Record *Record `json:"record,omitempty"` // for programs alone: the Markdown does not tell it
}

// Attempt is one attempt of the task.
type Attempt struct {
	AttemptNumber    int                `json:"attempt_number"`
	AgentVersion     string             `json:"agent_version"`      // agent and model
	Coder            string             `json:"coder,omitempty"`    // its name in the server's configuration
	Assigned         string             `json:"assigned,omitempty"` // why that coder; absent where there was no choice
	SystemPromptHash string             `json:"system_prompt_hash"`
	Outcome          sia.AttemptOutcome `json:"outcome,omitempty"`   // absent while it runs or is judged, and if Unchanged
	Unchanged        bool               `json:"unchanged,omitempty"` // it left a green head as it is
	Planning         bool               `json:"planning,omitempty"`  // it made a plan and was not to change anything
	FailurePoint     string             `json:"failure_point"`
	DurationMinutes  float64            `json:"duration_minutes"` // to a tenth
	CreditsConsumed  float64            `json:"credits_consumed"` // to a thousandth
	Intervention     *Intervention      `json:"sia_intervention"` // what SIA changed for it; null when it did nothing
	DiagnosisAfter   *Diagnosis         `json:"diagnosis_after"`  // what SIA concluded when it had failed; null before

	HeadSHA       string   `json:"head_sha,omitempty"`
	Signature     string   `json:"signature,omitempty"` // of its failures, sorted, separated by spaces
	FailingChecks []string `json:"failing_checks,omitempty"`
	Signals       []string `json:"signals,omitempty"` // "name: evidence"
	Transcript    string   `json:"transcript,omitempty"`
	DecisionIDs   []string `json:"decision_ids,omitempty"`
	// what it left to whoever goes on, a line an entry; the record has it for programs
	Ledger []string `json:"ledger,omitempty"`

	Structure plan.Structure `json:"structure,omitempty"` // how the work hung together; absent: one run did all of it
	Shape     string         `json:"shape,omitempty"`     // why so, or how that ended
	Parts     []Part         `json:"parts,omitempty"`
}

// Intervention is what SIA changed for an attempt.
type Intervention struct {
	TechniqueApplied   sia.TechniqueID `json:"technique_applied"`
	PromptModification string          `json:"prompt_modification"`
	Resolved           *bool           `json:"resolved,omitempty"` // absent until the attempt is judged
}

// Diagnosis is what SIA concluded from an attempt that failed.
type Diagnosis struct {
	Pattern       sia.Pattern     `json:"pattern,omitempty"`
	Diagnosis     string          `json:"diagnosis,omitempty"`
	Hypothesis    string          `json:"hypothesis,omitempty"`
	Confidence    float64         `json:"confidence"` // 0–1
	ReviewVerdict sia.Verdict     `json:"review_verdict,omitempty"`
	Technique     sia.TechniqueID `json:"technique"`         // that the next attempt is to be made with
	Ratings       []Rating        `json:"ratings,omitempty"` // of the comment that announced it
	// what the next attempt is to be told; absent once there is one
	PromptModification string `json:"prompt_modification,omitempty"`
}

// Rating is a person's 👍 or 👎.
type Rating struct {
	By   string `json:"by"` // login
	Good bool   `json:"good"`
}

// Learning is what a task teaches.
type Learning struct {
	Pattern            sia.Pattern `json:"pattern"`
	EffectiveTechnique string      `json:"effective_technique"` // a technique's id, or one of the Learned… words
	SpecificInsight    string      `json:"specific_insight"`
	Confidence         float64     `json:"confidence"` // 0–1
}

// Prompt is one distinct prompt that was tried.
type Prompt struct {
	Version   int                `json:"version"`
	Hash      string             `json:"hash"`
	Technique sia.TechniqueID    `json:"technique,omitempty"`
	Outcome   sia.AttemptOutcome `json:"outcome,omitempty"` // absent until it is judged
}

// Links are what a task's memory points at, by the number of an attempt, and what was logged about
// the task. All may be nil.
type Links struct {
	Transcripts map[int]string   // paths on the memory branch, as [TranscriptPath] makes them
	Decisions   map[int][]string // ids of logged decisions
	Log         Log
}

// Log is what was logged about a task, each as its JSON, oldest first.
type Log struct {
	Decisions, Outcomes, Evidence []json.RawMessage
}

// FromTask makes the file of a task.
func FromTask(t sia.Task, links Links) File {
	f := File{
		SchemaVersion: SchemaVersion, TaskID: t.ID, Repo: t.Repo.String(), Issue: t.Issue,
		TaskDescription: taskDescription(t.Title, t.Body), CreatedAt: t.CreatedAt.UTC().Truncate(time.Second),
		Status: t.State, HeadSHA: string(t.Head),
		Attempts: []Attempt{}, Learnings: Learnings(t), PromptsTried: []Prompt{},
		Aftermath: t.Aftermath, Ratings: ratingsOf(t, 0), Record: newRecord(t, links.Log),
	}
	if t.Final.Tells(t.Head) {
		f.FinalReview = fileLine(t.Final.String())
	}
	for _, a := range t.Attempts {
		m := attemptEntry(a)
		m.Transcript = fileLine(links.Transcripts[a.Number])
		m.DecisionIDs = fileLines(links.Decisions[a.Number])
		for _, i := range allInterventions(t) {
			switch i.After {
			case a.Number:
				m.DiagnosisAfter = diagnosisEntry(t, i)
				m.Signals = signalLines(i.Signals)
			case a.Number - 1:
				m.Intervention = &Intervention{TechniqueApplied: i.Diagnosis.Technique,
					PromptModification: fileText(i.Diagnosis.Prompt), Resolved: i.Resolved}
			}
		}
		f.Attempts = append(f.Attempts, m)
	}
	slices.SortStableFunc(f.Attempts, func(a, b Attempt) int { return cmp.Compare(a.AttemptNumber, b.AttemptNumber) })
	for _, p := range t.Prompts {
		f.PromptsTried = append(f.PromptsTried,
			Prompt{Version: p.Version, Hash: fileLine(p.Hash), Technique: p.Technique,
				Outcome: outcomeEntry(p.Outcome)})
	}
	return f
}

// allInterventions are the announced interventions and the one that is being prepared. That one is
// committed to memory before it is announced.
func allInterventions(t sia.Task) []sia.Intervention {
	all := slices.Clone(t.Interventions)
	if t.Next != nil && t.Next.Diagnosis.Summary != "" {
		all = append(all, *t.Next)
	}
	return all
}

func attemptEntry(a sia.Attempt) Attempt {
	m := Attempt{
		AttemptNumber: a.Number, AgentVersion: fileLine(a.Agent), SystemPromptHash: fileLine(a.PromptHash),
		Outcome: outcomeEntry(a.Outcome), Unchanged: a.Outcome == sia.AttemptUnchanged, Planning: a.Planning,
		FailurePoint: failurePoint(a), HeadSHA: string(a.Head), Signals: signalLines(a.Signals),
		CreditsConsumed: float64(a.Cost) / float64(sia.Credit),
		Coder:           fileLine(a.Coder), Assigned: fileText(a.Assigned),
		Structure: a.Structure, Shape: fileText(a.Shape), Parts: partEntries(a),
		Ledger: fileLines(a.Ledger.Lines()),
	}
	if a.EndedAt.After(a.StartedAt) {
		m.DurationMinutes = math.Round(a.EndedAt.Sub(a.StartedAt).Minutes()*10) / 10
	}
	var checks, signatures []string
	for _, f := range a.Failures {
		checks = append(checks, f.Check)
		signatures = append(signatures, f.Signature)
	}
	slices.Sort(checks)
	slices.Sort(signatures)
	m.FailingChecks = slices.Compact(fileLines(checks))
	m.Signature = strings.Join(slices.Compact(fileLines(signatures)), " ")
	return m
}

// outcomeEntry is an outcome as readers of version 2 know them: they read no file with another word.
func outcomeEntry(o sia.AttemptOutcome) sia.AttemptOutcome {
	if o == sia.AttemptUnchanged {
		return ""
	}
	return o
}

// failurePoint says where an attempt failed: the first failing check with its
// excerpt, else the reason it ended.
func failurePoint(a sia.Attempt) string {
	for _, f := range a.Failures {
		if e := fileText(f.Excerpt); e != "" {
			return fileLine(f.Check) + ":\n" + e
		}
	}
	if len(a.Failures) > 0 {
		return fileLine(a.Failures[0].Check)
	}
	if a.Outcome == sia.AttemptPass {
		return ""
	}
	return fileText(a.Reason)
}

func diagnosisEntry(t sia.Task, i sia.Intervention) *Diagnosis {
	d := i.Diagnosis
	m := &Diagnosis{
		Pattern: d.Pattern, Diagnosis: fileText(d.Summary), Hypothesis: fileText(d.Hypothesis),
		Confidence: roundShare(d.Confidence), ReviewVerdict: i.Review.Verdict, Technique: d.Technique,
		Ratings: ratingsOf(t, i.Number),
	}
	if !slices.ContainsFunc(t.Attempts, func(a sia.Attempt) bool { return a.Number == i.After+1 }) {
		m.PromptModification = fileText(d.Prompt)
	}
	return m
}

// ratingsOf are people's ratings of an intervention, or of the task as a whole for intervention 0.
// Of one login's ratings the last counts.
func ratingsOf(t sia.Task, intervention int) []Rating {
	var all []Rating
	for _, r := range t.Ratings {
		if r.Intervention != intervention {
			continue
		}
		m := Rating{By: fileLine(r.By.Login), Good: r.Good}
		all = append(slices.DeleteFunc(all, func(o Rating) bool { return o.By == m.By }), m)
	}
	return all
}

func signalLines(ss []sia.Signal) []string {
	var out []string
	for _, s := range ss {
		out = append(out, strings.TrimSuffix(string(s.Name)+": "+s.Evidence, ": "))
	}
	return fileLines(out)
}

// Title is the issue's title.
func (f File) Title() string { t, _, _ := strings.Cut(f.TaskDescription, "\n\n"); return t }

func taskDescription(title, body string) string {
	title = fileLine(title)
	if body = fileText(body); body == "" {
		return title
	}
	return title + "\n\n" + body
}

// roundShare clips to 0–1 and two decimal places.
func roundShare(x float64) float64 {
	if !(x > 0) { // also not a number
		return 0
	}
	return math.Round(min(x, 1)*100) / 100
}

// fileText is s as the files hold it: UTF-8, lines ended by a newline alone, no
// empty lines around it.
func fileText(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd").Replace(s)
	return strings.TrimRight(strings.Trim(s, "\n"), " \t\n")
}

// fileLine is s on one line, as the files hold it.
func fileLine(s string) string { return text.OneLine(strings.ReplaceAll(s, "\x00", "\ufffd")) }

// fileLines are the non-empty ones of ss, each on one line; nil when there is none.
func fileLines(ss []string) []string {
	var out []string
	for _, s := range ss {
		if s = fileLine(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// The folder of the memory branch.
const memoryFolder = ".sia/"

// Paths are the paths of a task's two files on the memory branch.
func Paths(t sia.Task) (markdown, json string) {
	stem := fmt.Sprintf("%stasks/%d", memoryFolder, t.Issue)
	return stem + ".md", stem + ".json"
}

// TranscriptPath is the path of an attempt's transcript on the memory branch.
func TranscriptPath(t sia.Task, attempt int) string {
	return fmt.Sprintf("%stranscripts/%d/%d.md", memoryFolder, t.Issue, attempt)
}

// BrokenFile says that a memory file can't be read, most likely because a person edited it. Such a
// file must be kept. Line is 1-based; 0 when unknown.
type BrokenFile struct {
	Path string
	Line int
	Err  error
}

// Error is "path:line: cause".
func (e *BrokenFile) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("memory file %s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("memory file %s:%d: %v", e.Path, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *BrokenFile) Unwrap() error { return e.Err }
