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

// SchemaVersion is the version of the files that this package writes. Files of a later version are neither read nor
// overwritten. Files of version 1 are read ([upgradeFile]).
const SchemaVersion = 2

// File is the memory of one task, in the structure of its JSON file. The tags "merge" are those of [mergeObject].
type File struct {
	SchemaVersion   int        `json:"schema_version"`
	TaskID          sia.TaskID `json:"task_id"`
	Repo            string     `json:"repo"` // owner/name
	Issue           int        `json:"issue"`
	TaskDescription string     `json:"task_description"` // the title, an empty line, the body
	CreatedAt       time.Time  `json:"created_at"`
	Status          sia.State  `json:"status"`
	HeadSHA         string     `json:"head_sha,omitempty"`
	Attempts        []Attempt  `json:"attempts" merge:"attempt_number,keep"`
	Learnings       []Learning `json:"learnings" merge:"pattern effective_technique,keep"`
	PromptsTried    []Prompt   `json:"prompts_tried" merge:"hash"`

	Aftermath sia.Aftermath `json:"aftermath,omitempty"`          // what users did with the pull request; absent before
	Ratings   []Rating      `json:"ratings,omitempty" merge:"by"` // ratings of the whole task
	// summary of the final review of the head; absent without one
	FinalReview string `json:"final_review,omitempty"`

	Record *Record `json:"record,omitempty" merge:"object"` // for programs; not in the Markdown
}

// Attempt is one attempt of the task.
type Attempt struct {
	AttemptNumber    int                `json:"attempt_number"`
	AgentVersion     string             `json:"agent_version"`      // agent and model
	Coder            string             `json:"coder,omitempty"`    // name in the server's configuration
	Assigned         string             `json:"assigned,omitempty"` // why this coder; absent without a choice
	SystemPromptHash string             `json:"system_prompt_hash"`
	Outcome          sia.AttemptOutcome `json:"outcome,omitempty"`   // absent until it is judged, and if Unchanged
	Unchanged        bool               `json:"unchanged,omitempty"` // it left a green head unchanged
	Planning         bool               `json:"planning,omitempty"`  // it made a plan and no change
	FailurePoint     string             `json:"failure_point"`
	DurationMinutes  float64            `json:"duration_minutes"`                // to a tenth
	CreditsConsumed  float64            `json:"credits_consumed"`                // to a thousandth
	Intervention     *Intervention      `json:"sia_intervention" merge:"object"` // what SIA changed for it; null: nothing
	DiagnosisAfter   *Diagnosis         `json:"diagnosis_after" merge:"object"`  // what SIA concluded from its failure

	HeadSHA       string   `json:"head_sha,omitempty"`
	Signature     string   `json:"signature,omitempty"` // signatures of its failures, sorted, separated by spaces
	FailingChecks []string `json:"failing_checks,omitempty"`
	Signals       []string `json:"signals,omitempty"` // "name: evidence"
	Transcript    string   `json:"transcript,omitempty" merge:"missing"`
	DecisionIDs   []string `json:"decision_ids,omitempty" merge:"missing"`
	// notes for the next attempt, one line per entry; the record has them for programs
	Ledger []string `json:"ledger,omitempty"`

	Structure plan.Structure `json:"structure,omitempty"` // structure of the work; absent: a single run
	Shape     string         `json:"shape,omitempty"`     // why this structure, or how it ended
	Parts     []Part         `json:"parts,omitempty" merge:"number"`
}

// Intervention is what SIA changed for an attempt.
type Intervention struct {
	TechniqueApplied   sia.TechniqueID `json:"technique_applied"`
	PromptModification string          `json:"prompt_modification"`
	Resolved           *bool           `json:"resolved,omitempty"` // absent until the attempt is judged
}

// Diagnosis is what SIA concluded from a failed attempt.
type Diagnosis struct {
	Pattern       sia.Pattern     `json:"pattern,omitempty"`
	Diagnosis     string          `json:"diagnosis,omitempty"`
	Hypothesis    string          `json:"hypothesis,omitempty"`
	Confidence    float64         `json:"confidence"` // 0–1
	ReviewVerdict sia.Verdict     `json:"review_verdict,omitempty"`
	Technique     sia.TechniqueID `json:"technique"`                    // technique of the next attempt
	Ratings       []Rating        `json:"ratings,omitempty" merge:"by"` // ratings of the comment that announced it
	// instructions for the next attempt; absent once it exists
	PromptModification string `json:"prompt_modification,omitempty"`
}

// Rating is a user's 👍 or 👎.
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

// Prompt is one distinct prompt of the task's attempts.
type Prompt struct {
	Version   int                `json:"version"`
	Hash      string             `json:"hash"`
	Technique sia.TechniqueID    `json:"technique,omitempty"`
	Outcome   sia.AttemptOutcome `json:"outcome,omitempty"` // absent until it is judged
}

// Links are the references of a task's memory, by attempt number, and the logs about the task. All may be nil.
type Links struct {
	Transcripts map[int]string   // paths on the memory branch, as [TranscriptPath] makes them
	Decisions   map[int][]string // ids of logged decisions
	Log         Log
}

// Log holds the logged entries about a task as JSON, oldest first.
type Log struct {
	Decisions, Outcomes, Evidence []json.RawMessage
}

// FromTask returns the file of a task.
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
			if i.After == a.Number {
				m.DiagnosisAfter = diagnosisEntry(t, i)
				m.Signals = signalLines(i.Signals)
			}
		}
		if i := t.InterventionOf(a); i != nil {
			m.Intervention = &Intervention{TechniqueApplied: i.Diagnosis.Technique,
				PromptModification: fileText(i.Diagnosis.Prompt)}
			if a.Outcome == sia.AttemptPass || a.Outcome == sia.AttemptFail {
				m.Intervention.Resolved = i.Resolved
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

// allInterventions returns the announced interventions and the one in preparation, which is committed to memory before
// it is announced.
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

// outcomeEntry returns an outcome in the vocabulary of version 2: its readers reject files with other words.
func outcomeEntry(o sia.AttemptOutcome) sia.AttemptOutcome {
	if o == sia.AttemptUnchanged {
		return ""
	}
	return o
}

// failurePoint returns where an attempt failed: the first failing check with its excerpt, else the reason why it ended.
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
	applied := func(a sia.Attempt) bool { v := t.InterventionOf(a); return v != nil && v.After == i.After }
	if !slices.ContainsFunc(t.Attempts, applied) {
		m.PromptModification = fileText(d.Prompt)
	}
	return m
}

// ratingsOf returns the ratings of an intervention, or of the whole task for intervention 0. Only the last rating of a
// login counts.
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

// Title returns the issue's title.
func (f File) Title() string { t, _, _ := strings.Cut(f.TaskDescription, "\n\n"); return t }

func taskDescription(title, body string) string {
	title = fileLine(title)
	if body = fileText(body); body == "" {
		return title
	}
	return title + "\n\n" + body
}

// roundShare clamps to 0–1 and rounds to two decimal places.
func roundShare(x float64) float64 {
	if !(x > 0) { // also NaN
		return 0
	}
	return math.Round(min(x, 1)*100) / 100
}

// fileText returns s in the form of the files: UTF-8, LF line endings, no empty lines around it.
func fileText(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd").Replace(s)
	return strings.TrimRight(strings.Trim(s, "\n"), " \t\n")
}

// fileLine returns s on one line, in the form of the files.
func fileLine(s string) string { return text.OneLine(strings.ReplaceAll(s, "\x00", "\ufffd")) }

// fileLines returns the non-empty strings of ss, each on one line; nil for none.
func fileLines(ss []string) []string {
	var out []string
	for _, s := range ss {
		if s = fileLine(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// memoryFolder is SIA's folder on the memory branch.
const memoryFolder = ".sia/"

// Paths returns the paths of a task's two files on the memory branch.
func Paths(t sia.Task) (markdown, json string) {
	stem := fmt.Sprintf("%stasks/%d", memoryFolder, t.Issue)
	return stem + ".md", stem + ".json"
}

// TranscriptPath returns the path of an attempt's transcript on the memory branch.
func TranscriptPath(t sia.Task, attempt int) string {
	return fmt.Sprintf("%stranscripts/%d/%d.md", memoryFolder, t.Issue, attempt)
}

// BrokenFile is the error for an unreadable memory file, most likely one edited by a user. The file must be kept. Line
// is 1-based; 0 when unknown.
type BrokenFile struct {
	Path string
	Line int
	Err  error
}

// Error returns "memory file path:line: cause".
func (e *BrokenFile) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("memory file %s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("memory file %s:%d: %v", e.Path, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *BrokenFile) Unwrap() error { return e.Err }
