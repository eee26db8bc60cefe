package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies/priors"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/memory"
	"github.com/sia-bot/sia/sia/text"
)

// ReindexResult counts what was rebuilt of one repository. It omits what was in the database already, which has
// priority over memory.
type ReindexResult struct {
	Repo      string   `json:"repo"`
	Branch    string   `json:"branch"` // the memory branch
	Head      string   `json:"head"`   // its head; empty: the branch does not exist
	Tasks     int      `json:"tasks"`
	Again     int      `json:"started_again"` // unfinished tasks that still have their label
	Lessons   int      `json:"lessons"`
	Outcomes  int      `json:"outcomes"`
	Decisions int      `json:"decisions"`
	Problems  []string `json:"problems"` // what could not be read or rebuilt, for users
}

// memoryFileLimit is the maximum size of a file of the memory branch, in bytes.
const memoryFileLimit = 64 << 20

// tasksFolder contains the tasks on the memory branch.
const tasksFolder = ".sia/tasks"

// Reindex rebuilds a lost database from the memory branches of all repositories of all installations, or of one
// repository, named as owner/name. It reports progress after each repository. It is idempotent.
//
// Outcomes are replayed in chronological order across all repositories, so that the next choice is the one that the
// lost database would have made.
func (b *Branches) Reindex(ctx context.Context, only string, progress func(ReindexResult)) ([]ReindexResult, error) {
	repos, err := b.discover(ctx, only)
	if err != nil {
		return nil, err
	}
	var all []ReindexResult
	var outcomes []store.Outcome
	var coders []store.CoderOutcome
	for _, r := range repos {
		x := &rebuild{branches: b, repo: r, out: ReindexResult{Repo: r.String(), Problems: []string{}}}
		if err := x.run(ctx); err != nil {
			x.problem("%v", err)
			if ctx.Err() != nil {
				return all, context.Cause(ctx)
			}
		}
		outcomes = append(outcomes, x.outcomes...)
		coders = append(coders, x.coders...)
		progress(x.out)
		all = append(all, x.out)
	}
	recorded, err := b.recordResults(ctx, outcomes, coders)
	for i := range all {
		all[i].Outcomes = recorded[all[i].Repo]
	}
	if err != nil {
		return all, err
	}
	for i, r := range repos {
		act := store.Act{At: b.now(), What: "reindex", Repo: r.ID, Detail: fmt.Sprintf("%d tasks", all[i].Tasks)}
		if err := b.store.LogAct(ctx, act); err != nil {
			return all, err
		}
	}
	return all, nil
}

// recordResults records the results of tasks and of their coders in chronological order. It returns the number of new
// outcomes by repository.
func (b *Branches) recordResults(
	ctx context.Context, outcomes []store.Outcome, coders []store.CoderOutcome,
) (recorded map[string]int, err error) {
	recorded = map[string]int{}
	slices.SortStableFunc(outcomes,
		func(a, b store.Outcome) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	for _, o := range outcomes {
		isNew, err := b.store.RecordOutcome(ctx, o)
		if err != nil {
			return recorded, err
		}
		if isNew {
			recorded[o.Repo.String()]++
		}
	}
	slices.SortStableFunc(coders, func(a, b store.CoderOutcome) int { return a.At.Compare(b.At) })
	for _, o := range coders {
		if err := b.store.RecordCoderOutcome(ctx, o); err != nil {
			return recorded, err
		}
	}
	return recorded, nil
}

// discover requests the installations and their repositories from GitHub, and stores them.
func (b *Branches) discover(ctx context.Context, only string) ([]store.Repository, error) {
	installations, err := b.github.Installations(ctx)
	if err != nil {
		return nil, err
	}
	var all []store.Repository
	for _, in := range installations {
		if in.Suspended {
			continue
		}
		if err := b.store.UpsertInstallation(ctx, store.Installation{ID: in.ID, Account: in.Account}); err != nil {
			return nil, err
		}
		repos, err := b.github.Repositories(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		for _, r := range repos {
			wanted := only == "" || strings.EqualFold(only, r.String())
			if !wanted && r.Name != sia.OwnersRepo { // its settings may apply to the requested repository
				continue
			}
			known := store.Repository{Repo: r.Repo, Installation: in.ID, DefaultBranch: r.DefaultBranch, Private: r.Private}
			if err := b.store.UpsertRepository(ctx, known); err != nil {
				return nil, err
			}
			if wanted {
				all = append(all, known)
			}
		}
	}
	if only != "" && len(all) == 0 {
		return nil, &sia.Error{Op: "reindex", Permanent: true,
			Message: fmt.Sprintf("the app is not installed in %s; install it there, or check the name (owner/name)", only)}
	}
	return all, nil
}

// rebuild is the state of rebuilding one repository.
type rebuild struct {
	branches *Branches
	repo     store.Repository
	out      ReindexResult
	outcomes []store.Outcome      // recorded together with those of all repositories
	coders   []store.CoderOutcome // likewise
	evidence []lesson.Evidence    // evidence behind the lessons' counts
}

func (x *rebuild) problem(format string, args ...any) {
	x.out.Problems = append(x.out.Problems, fmt.Sprintf(format, args...))
}

func (x *rebuild) run(ctx context.Context) error {
	git := x.branches.mirror(x.repo.Installation, x.repo.Repo)
	base, err := git.Fetch(ctx, x.repo.DefaultBranch)
	if errors.Is(err, gitops.ErrNoBranch) {
		return nil // an empty repository
	}
	if err != nil {
		return err
	}
	set, err := x.branches.settings.At(ctx, x.repo.Installation, x.repo.Repo, x.repo.DefaultBranch, base)
	if err != nil {
		return err
	}
	if set.Warning != "" {
		x.problem("%s", set.Warning)
	}
	x.out.Branch = set.Memory.Branch
	if x.out.Head, err = git.Fetch(ctx, set.Memory.Branch); errors.Is(err, gitops.ErrNoBranch) {
		x.out.Head = ""
		return nil
	}
	if err != nil {
		return err
	}
	files, err := git.Files(ctx, x.out.Head, tasksFolder)
	if err != nil {
		return err
	}
	for _, name := range x.taskFiles(files) {
		b, err := git.ReadFile(ctx, x.out.Head, name, memoryFileLimit)
		if err == nil {
			err = x.task(ctx, name, b)
		}
		var broken *memory.BrokenFile
		switch {
		case errors.As(err, &broken):
			x.problem("%v", err) // the error names the file
		case err != nil:
			x.problem("%s: %v", name, err)
		}
	}
	if err := x.lessons(ctx, git); err != nil {
		return err
	}
	warning, err := x.branches.Read(ctx, x.repo.Installation, x.repo.Repo, set.Memory.Branch, sia.Actor{})
	if warning != "" {
		x.problem("%s", warning)
	}
	return err
}

// maxTaskFiles is the maximum number of a repository's tasks that are rebuilt.
const maxTaskFiles = 10_000

// taskFiles returns the names of the tasks' JSON files. It leaves out those of the first issues that exceed
// [maxTaskFiles].
func (x *rebuild) taskFiles(files []gitops.File) (names []string) {
	for _, f := range files {
		if path.Ext(f.Path) == ".json" {
			names = append(names, f.Path)
		}
	}
	over := len(names) - maxTaskFiles
	if over <= 0 {
		return names
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	x.problem("the first %s are left out: at most %d are rebuilt", text.Count(over, "task"), maxTaskFiles)
	return names[over:]
}

// task rebuilds one task with its log and its results, and restarts it if it had not ended.
func (x *rebuild) task(ctx context.Context, name string, b []byte) error {
	r, err := x.read(name, b)
	if err != nil {
		return err
	}
	t, isNew, err := x.restore(ctx, r)
	if err != nil {
		return err
	}
	if err := x.results(ctx, r, t, isNew); err != nil || !isNew || !r.unfinished {
		return err
	}
	return x.restart(ctx, r.task)
}

// taskFromRecord is a task from its record in memory.
type taskFromRecord struct {
	task       sia.Task
	unfinished bool // it had not ended
	record     *memory.Record
}

func (x *rebuild) read(name string, b []byte) (r taskFromRecord, err error) {
	f, err := memory.ParseJSON(name, b)
	if err != nil {
		return r, err
	}
	r.record = f.Record
	r.task, r.unfinished, err = f.Task(x.repo.Installation, x.repo.Repo, x.branches.now())
	return r, err
}

// restore rebuilds one task with its log, unless it is in the database. It returns the database's task.
func (x *rebuild) restore(ctx context.Context, r taskFromRecord) (t sia.Task, isNew bool, err error) {
	res, err := x.branches.store.Apply(ctx, r.task.ID, sia.Event{ID: restoreEvent + string(r.task.ID),
		At:   memory.Earlier(r.record.At, x.branches.now()),
		Fact: sia.Restored{Task: r.task, Show: r.unfinished}})
	if err != nil {
		return t, false, err
	}
	if t, isNew = res.Task, res.Ignored == ""; isNew {
		x.out.Tasks++
	}
	return t, isNew, x.restoreLog(ctx, t, r.record, isNew)
}

// restoreLog restores a task's decisions, outcomes and evidence. It leaves out a decision that the task can't have
// made: its effect, which another task may have or this one may get, would obey it.
func (x *rebuild) restoreLog(ctx context.Context, t sia.Task, r *memory.Record, isNew bool) error {
	decisions, err := decodeAll[sia.Decision](r.Decisions)
	if err != nil {
		return err
	}
	now := x.branches.now()
	for _, d := range decisions {
		if !t.MayHaveDecided(d.ID) {
			x.problem("%s has a decision %q, which the task did not make; it is left out", t.ID, text.Clip(d.ID, 80))
			continue
		}
		if d.Task, d.Repo, d.At = t.ID, x.repo.ID, memory.Earlier(d.At, now); !isNew {
			continue
		}
		if d.Context, err = restoreContext(d.Context, d.Choice); err != nil {
			return fmt.Errorf("decision %s: %w", d.ID, err)
		}
		if err := x.branches.store.LogDecision(ctx, d); err != nil {
			return err
		}
		x.out.Decisions++
	}
	outcomes, err := decodeAll[store.Outcome](r.Outcomes)
	if err != nil {
		return err
	}
	x.restoreOutcomes(t, outcomes)
	evidence, err := decodeAll[lesson.Evidence](r.Evidence)
	x.evidence = append(x.evidence, evidence...)
	return err
}

// restoreOutcomes keeps one outcome of each of the task's interventions: policies of all repositories learn from them.
// What was tried is the intervention's to say, and models and prompts are unknown: new ones would discount what all
// repositories taught. It leaves out all others.
func (x *rebuild) restoreOutcomes(t sia.Task, outcomes []store.Outcome) {
	tried := make(map[int]sia.Diagnosis, len(t.Interventions))
	for _, v := range t.Interventions {
		tried[v.Number] = v.Diagnosis
	}
	left := 0
	for _, o := range outcomes {
		d, ok := tried[o.Intervention]
		if !ok || o.Decision != "" && !t.MayHaveDecided(o.Decision) {
			left++
			continue
		}
		delete(tried, o.Intervention)
		o.Task, o.Repo, o.At = t.ID, x.repo.Repo, memory.Earlier(o.At, x.branches.now())
		o.Pattern, o.Technique, o.Setup = d.Pattern, d.Technique, store.RestoredSetup
		o.Confidence = knownConfidence(o.Confidence, string(d.Technique))
		x.outcomes = append(x.outcomes, o)
	}
	if left > 0 {
		x.problem("%s has %s of interventions or decisions that the task did not make, or twice; left out", t.ID,
			text.Count(left, "outcome"))
	}
}

// restoreContext returns the context of a restored decision: the models and prompts are unknown, as in
// [rebuild.restoreOutcomes], and a model's confidence counts only in techniques that are known.
func restoreContext(context json.RawMessage, choice string) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if len(context) == 0 {
		return context, nil
	}
	if err := json.Unmarshal(context, &fields); err != nil {
		return nil, fmt.Errorf("read its context: %w", err)
	}
	changed := map[string]any{}
	for name, value := range fields {
		switch {
		case strings.EqualFold(name, "setup"): // as encoding/json finds a field
			changed["setup"] = store.RestoredSetup
		case strings.EqualFold(name, "confidence"):
			var said map[string]float64
			if err := json.Unmarshal(value, &said); err != nil {
				return nil, fmt.Errorf("read its confidence: %w", err)
			}
			changed["confidence"] = knownConfidence(said, choice)
		default:
			continue
		}
		delete(fields, name)
	}
	if len(changed) == 0 {
		return context, nil
	}
	for name, value := range fields {
		changed[name] = value
	}
	return json.Marshal(changed)
}

// knownConfidence returns a model's confidence in the shipped techniques and the chosen one.
func knownConfidence(said map[string]float64, choice string) map[string]float64 {
	maps.DeleteFunc(said, func(id string, _ float64) bool {
		return id != choice && !slices.Contains(priors.Techniques(), id)
	})
	return said
}

// results restores the results of the task and of its coders. An unfinished task has a result only if it was waiting
// for a user.
func (x *rebuild) results(ctx context.Context, r taskFromRecord, t sia.Task, isNew bool) error {
	if isNew && r.record.Task.State == sia.Escalated && t.Escalation != nil {
		t.State = sia.Escalated
	}
	coders, end := x.branches.results(t.Judged())
	x.coders = append(x.coders, withoutAgents(coders)...)
	if end == nil || !isNew || t.Ended == memory.Rebuilt && t.State != sia.Escalated {
		return nil
	}
	return x.branches.store.RecordTaskEnd(ctx, *end)
}

// withoutAgents returns coders' results with unknown agents: new ones would discount what all repositories taught about
// the coders.
func withoutAgents(coders []store.CoderOutcome) []store.CoderOutcome {
	for i := range coders {
		coders[i].Agent = ""
	}
	return coders
}

// restart restarts an unfinished task if it is still requested: its issue is open and has the label.
func (x *rebuild) restart(ctx context.Context, t sia.Task) error {
	if t.Label == "" {
		return nil
	}
	issue, gone, err := x.branches.github.Repo(t.Installation, t.Repo).IssueOrGone(ctx, t.Issue)
	if err != nil || gone || issue.State != "open" || !issue.HasLabel(t.Label, t.LabelID) {
		return err
	}
	_, err = x.branches.store.Apply(ctx, t.ID, sia.Event{
		ID: restoreEvent + "start/" + string(t.ID), At: x.branches.now(), By: sia.Actor{Operator: true},
		Origin: sia.Origin{OnIssue: t.Issue},
		Fact: sia.Start{
			Installation: t.Installation, Repo: t.Repo, Issue: t.Issue, Title: issue.Title, Body: issue.Body,
			DefaultBranch: x.repo.DefaultBranch, Label: t.Label, LabelID: t.LabelID,
		},
	})
	if err == nil {
		x.out.Again++
	}
	return err
}

// lessons restores the lessons that SIA had written; later edits of users are imported afterwards, like any edit.
// Without the JSON file, lessons.md is the only source: a lesson whose origin and evidence it doesn't state counts like
// one that a person taught.
func (x *rebuild) lessons(ctx context.Context, git *gitops.Repo) error {
	read := func(name string) ([]byte, error) {
		b, err := git.ReadFile(ctx, x.out.Head, name, memoryFileLimit)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return b, err
	}
	b, err := read(lesson.JSONPath)
	if err != nil {
		return err
	}
	var lessons []lesson.Lesson
	if b != nil {
		var more []lesson.Evidence
		if lessons, more, err = lesson.ParseJSON(x.repo.ID, b); err != nil {
			x.problem("%v; the lessons are taken from %s", err, lesson.Path)
		}
		x.evidence = append(x.evidence, more...)
	}
	if lessons == nil {
		if b, err = read(lesson.Path); err != nil {
			return err
		}
		sheet, err := lesson.Parse(x.repo.ID, b)
		if err != nil {
			x.problem("%v", err)
		}
		now := x.branches.now()
		for _, l := range sheet.Lessons {
			l.Kind = cmp.Or(l.Kind, lesson.Discovery)
			l.Words = lesson.Words(l.Text+" "+l.Context+" "+l.Correction, maxLessonWords)
			l.Occurrences, l.CreatedAt, l.LastSeen = 1, now, now
			if l.From.Source == "" || l.CountedAt.IsZero() { // a person edited it
				l.From, l.Good, l.Bad, l.CountedAt = lesson.Provenance{Source: lesson.FromPerson}, lesson.PersonWeight, 0, now
			}
			lessons = append(lessons, l)
		}
	}
	current := x.validLessons(lessons)
	known, err := x.branches.store.Lessons(ctx, x.repo.ID)
	if err != nil {
		return err
	}
	x.out.Lessons, err = x.branches.store.RestoreLessons(ctx, x.repo.ID, x.limit(current, known),
		x.validEvidence(x.evidence))
	return err
}

// validLessons returns those of lessons that are valid, with what people may have written into them made harmless.
func (x *rebuild) validLessons(lessons []lesson.Lesson) (valid []lesson.Lesson) {
	for _, l := range lessons {
		l, ok := l.Upgrade()
		if !ok {
			continue
		}
		l = l.Clean(x.branches.secrets.Mask).Restrain(x.branches.now())
		if err := l.Valid(); err != nil {
			x.problem("%v; it is left out", err)
			continue
		}
		valid = append(valid, l)
	}
	return valid
}

// validEvidence returns those of evidence that are valid.
func (x *rebuild) validEvidence(evidence []lesson.Evidence) []lesson.Evidence {
	for i := range evidence {
		evidence[i].At = memory.Earlier(evidence[i].At, x.branches.now())
	}
	return slices.DeleteFunc(evidence, func(e lesson.Evidence) bool { return !e.Valid() })
}

// limit leaves out the live lessons with the lowest confidence that exceed [maxLessons], together with those that the
// database has.
func (x *rebuild) limit(lessons, known []lesson.Lesson) []lesson.Lesson {
	there, room := map[lesson.ID]bool{}, maxLessons
	for _, l := range known {
		if there[l.ID] = true; l.Live() {
			room--
		}
	}
	more := slices.DeleteFunc(slices.Clone(lessons), func(l lesson.Lesson) bool { return !l.Live() || there[l.ID] })
	over := len(more) - max(room, 0)
	if over <= 0 {
		return lessons
	}
	now := x.branches.now()
	slices.SortStableFunc(more,
		func(a, b lesson.Lesson) int { return cmp.Compare(a.Confidence(now), b.Confidence(now)) })
	left := map[lesson.ID]bool{}
	for _, l := range more[:over] {
		left[l.ID] = true
	}
	x.problem("%s with the lowest confidence are left out: a repository has at most %d", text.Count(over, "lesson"),
		maxLessons)
	return slices.DeleteFunc(lessons, func(l lesson.Lesson) bool { return left[l.ID] })
}

// Restore rebuilds a deleted task, like [Branches.Reindex], so that it continues where it was when it is started again.
// If the memory branch has no record of it, Restore logs that, and the task starts from scratch. What was learned from
// it is still in the database.
func (b *Branches) Restore(ctx context.Context, installation int64, repo sia.Repo, issue int) error {
	id := sia.NewTaskID(repo.ID, issue)
	deleted, err := b.store.Deleted(ctx, id)
	if err != nil || !deleted {
		return err
	}
	x := &rebuild{branches: b, repo: store.Repository{Repo: repo, Installation: installation}}
	branch, err := b.branchName(ctx, x.repo)
	if err != nil {
		return err
	}
	_, name := memory.Paths(sia.Task{Issue: issue})
	files, err := b.files(ctx, x.repo, branch, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var r taskFromRecord
	if err == nil {
		r, err = x.read(name, files[0])
	}
	if err != nil {
		b.log.WarnContext(ctx, "a task that was deleted begins anew: memory does not have it", "task", id, "why", err)
		return nil
	}
	t, _, err := x.restore(ctx, r)
	if err != nil {
		return err
	}
	coders, _ := b.results(t.Judged())
	_, err = b.recordResults(ctx, x.outcomes, withoutAgents(coders))
	return err
}

// maxLessonWords limits the search terms of a lesson that was restored from its text.
const maxLessonWords = 80

// decodeAll decodes each of vs from JSON.
func decodeAll[T any](vs []json.RawMessage) ([]T, error) {
	out := make([]T, len(vs))
	for i, v := range vs {
		if err := json.Unmarshal(v, &out[i]); err != nil {
			return nil, fmt.Errorf("read the record's %T: %w", out[i], err)
		}
	}
	return out, nil
}
