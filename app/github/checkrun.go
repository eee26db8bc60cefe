package github

import (
	"context"
	"fmt"
	"net/http"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/view"
)

// Limits of GitHub on check runs:
// https://docs.github.com/en/rest/checks/runs#create-a-check-run
const (
	maxActions     = 3
	maxLabel       = 20
	maxDescription = 40
	maxOutput      = 65535
	maxAnnotations = 50 // per request
)

// CheckRunSpec is the wanted state of a check run of the app.
type CheckRunSpec struct {
	Name       string
	HeadSHA    string
	ExternalID string // unique on the commit; identifies the run
	DetailsURL string
	view.CheckRun
}

// CheckRuns writes the check runs of the app.
type CheckRuns struct {
	*conn
	checks *Checks
}

// Upsert creates or updates the check run of the app with an external id on a commit, and returns the run's id. known
// is the id if the caller has it, or [Unwritten], or 0: then it is looked for, and not written if it says the same
// already. A completed check run can't be reopened: if the check continues after that, a new check run of that name is
// created, and counts instead.
//
// Check runs of other apps don't count, whatever their external id.
func (s *CheckRuns) Upsert(ctx context.Context, spec CheckRunSpec, known int64) (id int64, err error) {
	if known == Unwritten {
		return s.create(ctx, spec)
	}
	now, err := s.find(ctx, spec, known)
	if err != nil {
		return 0, err
	}
	if now == nil {
		return s.create(ctx, spec)
	}
	if now.GetOutput().GetAnnotationsCount() > 0 {
		spec.Annotations = nil
	}
	if known == 0 && spec.shownBy(now) {
		return now.GetID(), nil
	}
	_, err = s.write(ctx, spec, now.GetID())
	return now.GetID(), err
}

// shownBy reports whether a check run says all of this already. A spec with buttons is never shown, since GitHub does
// not return them.
func (s CheckRunSpec) shownBy(now *gh.CheckRun) bool {
	want, got := s.output(), now.GetOutput()
	return len(s.Actions)+len(s.Annotations) == 0 && now.GetStatus() == s.Status && now.GetConclusion() == s.Conclusion &&
		got.GetTitle() == want.GetTitle() && got.GetSummary() == want.GetSummary() && got.GetText() == want.GetText()
}

// Edit updates a check run of the app without reading it first. ok is false if that is impossible: it was deleted, it
// stays completed, or the number of its annotations is needed.
func (s *CheckRuns) Edit(ctx context.Context, spec CheckRunSpec, id int64) (ok bool, err error) {
	if len(spec.Annotations) > 0 {
		return false, nil
	}
	written, err := s.write(ctx, spec, id)
	if statusOf(err) == http.StatusNotFound {
		return false, nil
	}
	return err == nil && written.GetStatus() == spec.Status && written.GetConclusion() == spec.Conclusion, err
}

// write updates a check run, and returns the new state.
func (s *CheckRuns) write(ctx context.Context, spec CheckRunSpec, id int64) (*gh.CheckRun, error) {
	opts := checkRunUpdate{Actions: spec.actions(), UpdateCheckRunOptions: gh.UpdateCheckRunOptions{
		Name: spec.Name, ExternalID: &spec.ExternalID, DetailsURL: stringOrNil(spec.DetailsURL),
		Status: &spec.Status, Conclusion: stringOrNil(spec.Conclusion), Output: spec.output(),
	}}
	if spec.Status == "completed" {
		opts.CompletedAt = s.timestamp()
	}
	var got gh.CheckRun
	sending := ctx
	if len(spec.Annotations) > 0 {
		sending = withoutRetry(ctx)
	}
	err := s.rest.send(sending, http.MethodPatch, fmt.Sprintf("check-runs/%d", id), opts, &got)
	if err := require(err, got.GetID()); err != nil {
		return nil, s.app.failure(err, "update check run %s on %s in %s", spec.Name, shortSHA(spec.HeadSHA), s.repo)
	}
	return &got, nil
}

// checkRunUpdate is go-github's type, except that an empty list of buttons is sent too: without it, GitHub keeps the
// old buttons.
type checkRunUpdate struct {
	gh.UpdateCheckRunOptions
	Actions []*gh.CheckRunAction `json:"actions"`
}

func (s *CheckRuns) create(ctx context.Context, spec CheckRunSpec) (int64, error) {
	opts := gh.CreateCheckRunOptions{
		Name: spec.Name, HeadSHA: spec.HeadSHA, ExternalID: &spec.ExternalID, DetailsURL: stringOrNil(spec.DetailsURL),
		Status: &spec.Status, Conclusion: stringOrNil(spec.Conclusion), StartedAt: s.timestamp(),
		Output: spec.output(), Actions: spec.actions(),
	}
	if spec.Status == "completed" {
		opts.CompletedAt = opts.StartedAt
	}
	got, _, err := s.gh.Checks.CreateCheckRun(ctx, s.repo.Owner, s.repo.Name, opts)
	if err := require(err, got.GetID()); err != nil {
		return 0, s.app.failure(err, "create check run %s on %s in %s", spec.Name, shortSHA(spec.HeadSHA), s.repo)
	}
	return got.GetID(), nil
}

// find looks for the app's latest check run with the spec's external id, and returns nil if there is none. It ignores
// one that the spec would have to reopen.
func (s *CheckRuns) find(ctx context.Context, spec CheckRunSpec, known int64) (*gh.CheckRun, error) {
	ours := func(c *gh.CheckRun) bool {
		return c.GetExternalID() == spec.ExternalID && c.GetHeadSHA() == spec.HeadSHA && c.GetApp().GetID() == s.app.cfg.AppID
	}
	if known != 0 {
		got, _, err := s.gh.Checks.GetCheckRun(ctx, s.repo.Owner, s.repo.Name, known)
		if err == nil && ours(got) && !spec.reopens(got) {
			return got, nil
		}
		if err != nil && statusOf(err) != http.StatusNotFound {
			return nil, s.app.failure(err, "read check run %d in %s", known, s.repo)
		}
	}
	var newest *gh.CheckRun
	opts := gh.ListCheckRunsOptions{CheckName: &spec.Name, Filter: gh.String("all"), AppID: &s.app.cfg.AppID}
	for c, err := range s.checks.list(ctx, spec.HeadSHA, opts) {
		if err != nil {
			return nil, s.app.failure(err, "look for check run %s on %s in %s", spec.Name, shortSHA(spec.HeadSHA), s.repo)
		}
		if ours(c) && c.GetID() > newest.GetID() {
			newest = c
		}
	}
	if newest != nil && spec.reopens(newest) {
		newest = nil
	}
	return newest, nil
}

func (s *CheckRuns) timestamp() *gh.Timestamp {
	return &gh.Timestamp{Time: s.app.cfg.Now().UTC().Truncate(time.Second)}
}

// reopens reports whether a check run has a conclusion and the spec has none. GitHub answers such an update with
// success and keeps the conclusion.
// https://github.com/orgs/community/discussions/24761#discussioncomment-3245360
func (s *CheckRunSpec) reopens(c *gh.CheckRun) bool {
	return c.GetConclusion() != "" && s.Conclusion == ""
}

func (s *CheckRunSpec) output() *gh.CheckRunOutput {
	out := &gh.CheckRunOutput{Title: gh.String(s.Title), Summary: gh.String(cutBytes(s.Summary, maxOutput))}
	if s.Text != "" {
		out.Text = gh.String(cutBytes(s.Text, maxOutput))
	}
	for _, a := range s.Annotations[:min(len(s.Annotations), maxAnnotations)] {
		out.Annotations = append(out.Annotations, &gh.CheckRunAnnotation{
			Path: &a.Path, StartLine: gh.Int(max(a.Line, 1)), EndLine: gh.Int(max(a.Line, 1)),
			AnnotationLevel: gh.String(annotationLevel(a.Level)), Message: gh.String(cutBytes(a.Message, 64<<10-1)),
			Title: stringOrNil(text.Clip(a.Title, 255)),
		})
	}
	return out
}

func (s *CheckRunSpec) actions() []*gh.CheckRunAction {
	out := []*gh.CheckRunAction{}
	for _, a := range s.Actions[:min(len(s.Actions), maxActions)] {
		out = append(out, &gh.CheckRunAction{
			Label: text.Clip(a.Label, maxLabel), Description: text.Clip(a.Description, maxDescription), Identifier: a.Identifier,
		})
	}
	return out
}

func annotationLevel(l string) string {
	switch l {
	case "notice", "warning", "failure":
		return l
	}
	return "failure"
}

// stringOrNil returns nil for an empty string.
func stringOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
