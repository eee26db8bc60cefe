package work

import (
	"context"
	"errors"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
)

const exampleLimit = 32 << 10 // bytes of a file from which a diagnosis takes an example

// diagnosisResult is the result of a diagnosis.
type diagnosisResult struct {
	Fact     sia.Diagnosed `json:"fact"`
	Decision *sia.Decision `json:"decision,omitempty"` // the choice of a technique; nil: a user is asked
}

// diagnose finds out why the attempt failed and what to try instead. Its decision is logged before it takes effect.
func (w *learnWorker) diagnose(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	c, err := askOnce(ctx, w.common, f, textDiagnosis, f.Key, func() (diagnosisResult, error) {
		return w.runDiagnosis(ctx, t, f)
	})
	if err != nil {
		return nil, err
	}
	if c.Decision != nil {
		if err := w.Store.LogDecision(ctx, *c.Decision); err != nil {
			return nil, err
		}
	}
	return c.Fact, nil
}

// runDiagnosis diagnoses the attempt using everything learned so far.
func (w *learnWorker) runDiagnosis(ctx context.Context, t sia.Task, f sia.Effect) (diagnosisResult, error) {
	if err := w.observe(ctx, t); err != nil {
		return diagnosisResult{}, err
	}
	turns, err := w.transcript(ctx, t, f.Attempt)
	if err != nil {
		return diagnosisResult{}, err
	}
	diff, err := w.Store.Text(ctx, t.ID, f.Attempt, runTextKind(textDiff, diffRun(t.Attempts[f.Attempt-1])))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return diagnosisResult{}, err
	}
	repo := w.mirror(t)
	if err := repo.FetchCommit(ctx, string(t.BaseSHA)); err != nil {
		return diagnosisResult{}, err
	}
	files, err := repo.Files(ctx, string(t.BaseSHA), "")
	if err != nil {
		return diagnosisResult{}, err
	}
	library, warning, err := w.Settings.Techniques(ctx, t)
	if err != nil {
		return diagnosisResult{}, err
	}
	trials, err := w.Chooser.Trials(ctx, t, library)
	if err != nil {
		return diagnosisResult{}, err
	}
	lessons, err := w.Lessons.ForDiagnosis(ctx, t)
	if err != nil {
		return diagnosisResult{}, err
	}
	p, err := w.decisions.inForce(ctx, t, policies.TypeTechnique)
	if err != nil {
		return diagnosisResult{}, err
	}
	policy := p.Technique()
	language, err := w.decisions.language(ctx, t)
	if err != nil {
		return diagnosisResult{}, err
	}
	in := diagnose.Input{
		Task: t, Attempt: *t.Attempt(), Transcript: agent.Markdown(turns, agent.HeaderOf(t, *t.Attempt())), Diff: diff,
		Lessons: lessons, Library: trials.Library, Final: t.ApproachesLeft() == 0, Tools: w.decisions.tools(t.Settings.Agent),
		Candidates: func(p sia.Pattern) []sia.Candidate { return w.Chooser.Candidates(trials, t, language, p, policy) },
		Choose: func(q diagnose.Choice) (diagnose.Chosen, error) {
			return w.Chooser.Choose(t, language, f, q, policy, trials)
		},
		Files: paths(files),
		Read:  func(path string) ([]byte, error) { return repo.ReadFile(ctx, string(t.BaseSHA), path, exampleLimit) },
	}
	if t.Credits.Left() <= 0 {
		in.NoModel = "the task's credits are used up"
	}
	r, err := w.Diagnoser.Diagnose(ctx, in)
	if err != nil {
		return diagnosisResult{}, err
	}
	if r.Diagnosis.Seen, err = w.countPattern(ctx, t, r.Diagnosis.Pattern); err != nil {
		return diagnosisResult{}, err
	}
	return diagnosisResult{sia.Diagnosed{Diagnosis: r.Diagnosis, Cost: sia.CreditsOf(r.Usage.USD), Warning: warning},
		r.Decision}, nil
}

// maxSeenTasks is the number of a repository's latest tasks in which a pattern is searched.
const maxSeenTasks = 500

// countPattern returns how often earlier diagnoses in the repository, including this task's, found a pattern. Deleted
// tasks count if their result is recorded.
func (w *learnWorker) countPattern(ctx context.Context, t sia.Task, p sia.Pattern) (int, error) {
	tasks, err := w.Store.Tasks(ctx, store.Filter{Repo: t.Repo.ID, Limit: maxSeenTasks})
	if err != nil {
		return 0, err
	}
	outcomes, err := w.Store.PatternOutcomes(ctx, t.Repo.ID, p)
	if err != nil {
		return 0, err
	}
	type diagnosis struct {
		task   sia.TaskID
		number int
	}
	all := map[diagnosis]bool{}
	for _, other := range tasks {
		for _, iv := range other.Interventions {
			if iv.Diagnosis.Pattern == p {
				all[diagnosis{other.ID, iv.Number}] = true
			}
		}
	}
	for _, o := range outcomes {
		all[diagnosis{o.Task, o.Intervention}] = true
	}
	return len(all), nil
}

func paths(files []gitops.File) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.Path
	}
	return out
}
