package github

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"iter"
	"net/http"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Limits of GitHub on check runs:
// https://docs.github.com/en/rest/checks/runs#create-a-check-run
const (
	maxActions          = 3
	maxLabel            = 20
	maxIdentifier       = 20
	maxDescription      = 40
	maxOutput           = 65535
	maxAnnotations      = 50 // per request
	maxTotalAnnotations = 200
)

// sentTTL is how long to remember the last content of a check run. GitHub does not return a check run's buttons.
const sentTTL = 24 * time.Hour

// CheckRunSpec is the wanted content of a check run of the app.
type CheckRunSpec struct {
	Name        string
	HeadSHA     string
	ExternalID  string // unique on the commit; identifies the run
	Status      string // queued, in_progress or completed
	Conclusion  string // required when completed, empty otherwise
	Title       string // required
	Summary     string // Markdown
	Text        string // Markdown
	DetailsURL  string
	Annotations []Annotation // written once: GitHub appends annotations, and never replaces them
	Actions     []Action     // buttons; GitHub shows at most three
}

// Action is a button on a check run.
type Action struct {
	Label       string // at most 20 characters are kept
	Description string // at most 40 characters are kept
	Identifier  string // at most 20 characters; check_run.requested_action returns it
}

// UpsertCheckRun creates or updates the check run of the app with an external id on a commit. It returns the run's id
// and page, and whether it wrote anything. known is the run's id if the caller has it, or [Unwritten], or 0. A
// completed check run can't be reopened: if the check continues after that, a new check run of that name is created,
// and counts instead.
//
// Check runs of other apps don't count, whatever their external id.
func (r *Repo) UpsertCheckRun(
	ctx context.Context, spec CheckRunSpec, known int64,
) (id int64, page string, changed bool, err error) {
	if err := spec.validate(); err != nil {
		return 0, "", false, err
	}
	if known == Unwritten {
		return r.createCheckRun(ctx, spec)
	}
	now, ok, err := r.findCheckRun(ctx, spec, known)
	if err != nil {
		return 0, "", false, err
	}
	if !ok {
		return r.createCheckRun(ctx, spec)
	}
	sum := spec.hash()
	if sent, cached := r.sent.get(now.ID); spec.matches(now) &&
		(sent == sum || (!cached && len(spec.Actions) == 0)) {
		r.sent.put(now.ID, sum)
		return now.ID, now.URL, false, nil
	}
	first, more := spec.batches(now.AnnotationsCount)
	written, err := r.writeCheckRun(ctx, spec, now.ID, first)
	if err != nil {
		return 0, "", false, err
	}
	if err := r.annotate(ctx, spec, now.ID, more); err != nil {
		return 0, "", false, err
	}
	r.sent.put(now.ID, sum)
	return now.ID, written.GetHTMLURL(), true, nil
}

// EditCheckRun updates a check run of the app without reading it first. ok is false if that is impossible: it was
// deleted, it stays completed, or the number of its annotations is needed.
func (r *Repo) EditCheckRun(ctx context.Context, spec CheckRunSpec, id int64) (ok bool, err error) {
	if err := spec.validate(); err != nil {
		return false, err
	}
	if len(spec.Annotations) > 0 {
		return false, nil
	}
	written, err := r.writeCheckRun(ctx, spec, id, nil)
	if statusOf(err) == http.StatusNotFound {
		return false, nil
	}
	if err != nil || written.GetStatus() != spec.Status || written.GetConclusion() != spec.Conclusion {
		return false, err
	}
	r.sent.put(id, spec.hash())
	return true, nil
}

// writeCheckRun updates a check run with some annotations, and returns the new state.
func (r *Repo) writeCheckRun(
	ctx context.Context, spec CheckRunSpec, id int64, first []Annotation,
) (*gh.CheckRun, error) {
	opts := checkRunUpdate{Actions: spec.actions(), UpdateCheckRunOptions: gh.UpdateCheckRunOptions{
		Name: spec.Name, ExternalID: &spec.ExternalID, DetailsURL: stringOrNil(spec.DetailsURL),
		Status: &spec.Status, Conclusion: stringOrNil(spec.Conclusion), Output: spec.output(first),
	}}
	if spec.Status == "completed" {
		opts.CompletedAt = r.timestamp()
	}
	var got gh.CheckRun
	sending := ctx
	if len(first) > 0 {
		sending = withoutRetry(ctx)
	}
	err := r.send(sending, http.MethodPatch, fmt.Sprintf("check-runs/%d", id), opts, &got)
	if err := require(err, got.GetID()); err != nil {
		return nil, r.fail(err, "update check run %s on %s in %s", spec.Name, shortSHA(spec.HeadSHA), r.repo)
	}
	return &got, nil
}

// checkRunUpdate is go-github's type, except that an empty list of buttons is sent too: without it, GitHub keeps the
// old buttons.
type checkRunUpdate struct {
	gh.UpdateCheckRunOptions
	Actions []*gh.CheckRunAction `json:"actions"`
}

func (r *Repo) createCheckRun(ctx context.Context, spec CheckRunSpec) (int64, string, bool, error) {
	first, more := spec.batches(0)
	opts := gh.CreateCheckRunOptions{
		Name: spec.Name, HeadSHA: spec.HeadSHA, ExternalID: &spec.ExternalID, DetailsURL: stringOrNil(spec.DetailsURL),
		Status: &spec.Status, Conclusion: stringOrNil(spec.Conclusion), StartedAt: r.timestamp(),
		Output: spec.output(first), Actions: spec.actions(),
	}
	if spec.Status == "completed" {
		opts.CompletedAt = opts.StartedAt
	}
	got, _, err := r.gh.Checks.CreateCheckRun(ctx, r.repo.Owner, r.repo.Name, opts)
	if err := require(err, got.GetID()); err != nil {
		return 0, "", false, r.fail(err, "create check run %s on %s in %s", spec.Name, shortSHA(spec.HeadSHA), r.repo)
	}
	if err := r.annotate(ctx, spec, got.GetID(), more); err != nil {
		return 0, "", false, err
	}
	r.sent.put(got.GetID(), spec.hash())
	return got.GetID(), got.GetHTMLURL(), true, nil
}

// annotate sends the annotations that were not in the first request. After a lost response, the next attempt finds
// how many have arrived.
func (r *Repo) annotate(ctx context.Context, spec CheckRunSpec, id int64, rest []Annotation) error {
	for len(rest) > 0 {
		n := min(len(rest), maxAnnotations)
		_, _, err := r.gh.Checks.UpdateCheckRun(withoutRetry(ctx), r.repo.Owner, r.repo.Name, id,
			gh.UpdateCheckRunOptions{Name: spec.Name, Output: spec.output(rest[:n])})
		if err != nil {
			return r.fail(err, "annotate check run %s on %s in %s", spec.Name, shortSHA(spec.HeadSHA), r.repo)
		}
		rest = rest[n:]
	}
	return nil
}

// findCheckRun looks for the app's latest check run with the spec's external id. It ignores one that the spec would
// have to reopen.
func (r *Repo) findCheckRun(ctx context.Context, spec CheckRunSpec, known int64) (CheckRun, bool, error) {
	ours := func(c *gh.CheckRun) bool {
		return c.GetExternalID() == spec.ExternalID && c.GetHeadSHA() == spec.HeadSHA && c.GetApp().GetID() == r.app.cfg.AppID
	}
	if known != 0 {
		got, _, err := r.gh.Checks.GetCheckRun(ctx, r.repo.Owner, r.repo.Name, known)
		if err == nil && ours(got) && !spec.reopens(got) {
			return checkRunFrom(got), true, nil
		}
		if err != nil && statusOf(err) != http.StatusNotFound {
			return CheckRun{}, false, r.fail(err, "read check run %d in %s", known, r.repo)
		}
	}
	var newest *gh.CheckRun
	opts := gh.ListCheckRunsOptions{CheckName: &spec.Name, Filter: gh.String("all"), AppID: &r.app.cfg.AppID}
	for c, err := range r.checkRuns(ctx, spec.HeadSHA, opts) {
		if err != nil {
			return CheckRun{}, false, r.fail(err, "look for check run %s on %s in %s", spec.Name, shortSHA(spec.HeadSHA), r.repo)
		}
		if ours(c) && c.GetID() > newest.GetID() {
			newest = c
		}
	}
	if newest == nil || spec.reopens(newest) {
		return CheckRun{}, false, nil
	}
	return checkRunFrom(newest), true, nil
}

// checkRuns iterates over the check runs of a commit.
func (r *Repo) checkRuns(ctx context.Context, sha string, opts gh.ListCheckRunsOptions) iter.Seq2[*gh.CheckRun, error] {
	return eachPage(func(o gh.ListOptions) ([]*gh.CheckRun, *gh.Response, error) {
		opts.ListOptions = o
		got, resp, err := r.gh.Checks.ListCheckRunsForRef(ctx, r.repo.Owner, r.repo.Name, sha, &opts)
		if err != nil {
			return nil, resp, err
		}
		return got.CheckRuns, resp, nil
	})
}

func (r *Repo) timestamp() *gh.Timestamp {
	return &gh.Timestamp{Time: r.app.cfg.Now().UTC().Truncate(time.Second)}
}

// validate rejects what GitHub would reject.
func (s *CheckRunSpec) validate() error {
	problem := ""
	switch {
	case s.Name == "" || s.HeadSHA == "" || s.ExternalID == "" || s.Title == "":
		problem = "name, commit, external id and title are needed"
	case (s.Status == "completed") != (s.Conclusion != ""):
		problem = "a conclusion goes with the status completed and no other"
	}
	for _, a := range s.Actions {
		if len(a.Identifier) > maxIdentifier || a.Identifier == "" {
			problem = fmt.Sprintf("the button identifier %q is empty or longer than %d characters", a.Identifier, maxIdentifier)
		}
	}
	if problem == "" {
		return nil
	}
	return &sia.Error{Op: "show check run " + s.Name, Message: problem, Permanent: true}
}

// reopens reports whether a check run has a conclusion and the spec has none. GitHub answers such an update with
// success and keeps the conclusion.
// https://github.com/orgs/community/discussions/24761#discussioncomment-3245360
func (s *CheckRunSpec) reopens(c *gh.CheckRun) bool {
	return c.GetConclusion() != "" && s.Conclusion == ""
}

// matches reports whether a check run already shows the spec, except for its buttons, which GitHub does not return.
func (s *CheckRunSpec) matches(c CheckRun) bool {
	return c.Name == s.Name && c.Status == s.Status && c.Conclusion == s.Conclusion &&
		c.OutputTitle == s.Title && sameText(c.OutputSummary, cutBytes(s.Summary, maxOutput)) &&
		sameText(c.OutputText, cutBytes(s.Text, maxOutput)) &&
		(s.DetailsURL == "" || c.DetailsURL == s.DetailsURL) &&
		len(s.missingAnnotations(c.AnnotationsCount)) == 0
}

// batches splits the annotations to write into those of the first request and the rest.
func (s *CheckRunSpec) batches(have int) (first, more []Annotation) {
	all := s.missingAnnotations(have)
	n := min(len(all), maxAnnotations)
	return all[:n], all[n:]
}

// missingAnnotations returns the annotations to write on a run that has some already. It never replaces those. An
// interrupted write stops between two requests, so only whole batches can be missing.
func (s *CheckRunSpec) missingAnnotations(have int) []Annotation {
	all := s.Annotations[:min(len(s.Annotations), maxTotalAnnotations)]
	if have >= len(all) || have%maxAnnotations != 0 {
		return nil
	}
	return all[have:]
}

func (s *CheckRunSpec) output(annotations []Annotation) *gh.CheckRunOutput {
	out := &gh.CheckRunOutput{Title: gh.String(s.Title), Summary: gh.String(cutBytes(s.Summary, maxOutput))}
	if s.Text != "" {
		out.Text = gh.String(cutBytes(s.Text, maxOutput))
	}
	for _, a := range annotations {
		out.Annotations = append(out.Annotations, &gh.CheckRunAnnotation{
			Path: &a.Path, StartLine: gh.Int(max(a.StartLine, 1)), EndLine: gh.Int(max(a.EndLine, a.StartLine, 1)),
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

// hash returns a hash of the spec.
func (s *CheckRunSpec) hash() uint64 {
	h := fnv.New64a()
	_ = json.NewEncoder(h).Encode(s) // plain values, and a hash takes all bytes
	return h.Sum64()
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
