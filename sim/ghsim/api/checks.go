package api

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

var (
	checkStatuses = []string{"queued", "in_progress", "completed", "waiting", "requested", "pending"}
	// only GitHub sets stale
	checkConclusions = []string{"action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"}
)

// maxAnnotations is how many annotations one request may carry.
// https://docs.github.com/en/rest/checks/runs#create-a-check-run
const maxAnnotations = 50

// checkInput is the body of creating or changing a check run.
type checkInput struct {
	Name        *string    `json:"name"`
	HeadSHA     string     `json:"head_sha"`
	DetailsURL  *string    `json:"details_url"`
	ExternalID  *string    `json:"external_id"`
	Status      *string    `json:"status"`
	StartedAt   *time.Time `json:"started_at"`
	Conclusion  *string    `json:"conclusion"`
	CompletedAt *time.Time `json:"completed_at"`
	Output      *struct {
		Title       *string            `json:"title"`
		Summary     *string            `json:"summary"`
		Text        *string            `json:"text"`
		Annotations []model.Annotation `json:"annotations"`
	} `json:"output"`
	Actions *[]object `json:"actions"`
}

func (in *checkInput) check() error {
	if in.Status != nil && !slices.Contains(checkStatuses, *in.Status) {
		return refusal.Invalid("CheckRun", "status", "invalid", "")
	}
	if in.Conclusion != nil && !slices.Contains(checkConclusions, *in.Conclusion) {
		return refusal.Invalid("CheckRun", "conclusion", "invalid", "")
	}
	if in.Status != nil && *in.Status == "completed" && in.Conclusion == nil {
		return refusal.Invalid("CheckRun", "conclusion", "missing_field", "")
	}
	if o := in.Output; o != nil {
		switch {
		case o.Summary == nil || o.Title == nil:
			return refusal.Invalid("CheckRun", "output", "missing_field", "output needs title and summary")
		case len(*o.Summary) > 65535 || o.Text != nil && len(*o.Text) > 65535:
			return refusal.Invalid("CheckRun", "output", "custom", "summary and text are at most 65535 characters")
		case len(o.Annotations) > maxAnnotations:
			return refusal.Unprocessable("Invalid request. No more than 50 items are allowed in output.annotations.")
		}
		for _, a := range o.Annotations {
			if !annotates(a) {
				return refusal.Invalid("CheckRun", "annotations", "invalid", "")
			}
		}
	}
	if in.Actions != nil && len(*in.Actions) > 3 {
		return refusal.Unprocessable("Invalid request. No more than 3 items are allowed in actions.")
	}
	if in.Actions != nil {
		for _, a := range *in.Actions {
			for field, limit := range map[string]int{"label": 20, "description": 40, "identifier": 20} {
				if v := fmt.Sprint(a[field]); a[field] == nil || len([]rune(v)) > limit {
					return refusal.Invalid("CheckRun", "actions", "invalid",
						fmt.Sprintf("%s is required and at most %d characters", field, limit))
				}
			}
		}
	}
	return nil
}

// annotates reports whether GitHub accepts an annotation: an invalid one fails the whole request. It does not check
// whether the file exists. GitHub's description does not say that lines begin at 1; the simulator requires it all the
// same.
// https://docs.github.com/en/rest/checks/runs#create-a-check-run
func annotates(a model.Annotation) bool {
	columns := a.StartColumn != nil || a.EndColumn != nil
	const most = 64 << 10
	switch {
	case a.Path == "" || a.Message == "" || !slices.Contains([]string{"notice", "warning", "failure"}, a.Level),
		a.StartLine < 1 || a.EndLine < a.StartLine,
		columns && a.StartLine != a.EndLine,
		len(a.Message) > most || a.RawDetails != nil && len(*a.RawDetails) > most,
		a.Title != nil && len([]rune(*a.Title)) > 255:
		return false
	}
	return true
}

// apply changes a check run by the fields of the input. A status does not reopen a completed one: a conclusion stays
// until another is given.
// https://github.com/orgs/community/discussions/24761#discussioncomment-3245360
func (in *checkInput) apply(c *model.CheckRun, now time.Time) {
	if in.Status != nil && c.Status != "completed" {
		c.Status = *in.Status
	}
	for dst, src := range map[*string]*string{&c.Name: in.Name, &c.ExternalID: in.ExternalID,
		&c.DetailsURL: in.DetailsURL} {
		if src != nil {
			*dst = *src
		}
	}
	if in.StartedAt != nil {
		c.Started = *in.StartedAt
	}
	if in.Conclusion != nil {
		c.Status, c.Conclusion, c.Completed = "completed", *in.Conclusion, now
	}
	if in.CompletedAt != nil {
		c.Completed = *in.CompletedAt
	}
	if o := in.Output; o != nil {
		c.Title, c.Summary, c.Text = o.Title, o.Summary, o.Text
		c.Annotations = append(c.Annotations, o.Annotations...)
	}
	if in.Actions != nil {
		c.Actions = *in.Actions
	}
}

func createCheck(c *call, in checkInput) (answer, error) {
	sha, known := c.world.CommitOf(c.repo, in.HeadSHA)
	switch {
	case in.Name == nil || *in.Name == "":
		return answer{}, refusal.Invalid("CheckRun", "name", "missing_field", "")
	case !known || sha != in.HeadSHA:
		return answer{}, refusal.Unprocessable("No commit found for SHA: " + in.HeadSHA)
	}
	if err := in.check(); err != nil {
		return answer{}, err
	}
	run := c.world.NewCheck(c.repo, c.actor().App, sha)
	in.apply(run, c.world.Now())
	c.world.AddCheck(c.repo, c.actor(), run)
	return created(c.shape.Check(c.repo, run)), nil
}

func (c *call) check() (*model.CheckRun, error) {
	return found(c.repo.Check(c.id("id")))
}

func patchCheck(c *call, run *model.CheckRun, in checkInput) (answer, error) {
	if run.Suite.App != c.actor().App {
		return answer{}, refusal.Forbidden(fmt.Sprintf("Invalid app_id `%d` - check run can only be modified by "+
			"the GitHub App that created it.", c.actor().App.ID))
	}
	if err := in.check(); err != nil {
		return answer{}, err
	}
	c.world.ChangeCheck(c.repo, c.actor(), run, func(k *model.CheckRun) { in.apply(k, c.world.Now()) })
	return ok(c.shape.Check(c.repo, run)), nil
}

func getCheck(c *call, run *model.CheckRun) (answer, error) {
	return ok(c.shape.Check(c.repo, run)), nil
}

func listAnnotations(c *call, run *model.CheckRun) (answer, error) {
	return page(c, run.Annotations, "", func(a model.Annotation) object {
		o := object{"path": a.Path, "start_line": a.StartLine, "end_line": a.EndLine, "start_column": a.StartColumn,
			"end_column":       a.EndColumn,
			"annotation_level": a.Level, "message": a.Message, "title": a.Title, "raw_details": a.RawDetails,
			"blob_href": c.shape.HTML("/%s/blob/%s/%s", c.repo.FullName(), run.SHA, a.Path)}
		return o
	})
}

// postRerequest is POST /repos/{owner}/{repo}/check-runs/{check_run_id}/rerequest. GitHub permits it only to the app
// that owns the check run. GitHub Actions is another app, too: its jobs are rerun through their run.
// https://docs.github.com/en/rest/checks/runs#rerequest-a-check-run--status-codes
func postRerequest(c *call, run *model.CheckRun) (answer, error) {
	if run.Suite.App != c.actor().App {
		return answer{}, refusal.Forbidden("This check run is not rerequestable")
	}
	if err := c.world.RerequestCheck(c.repo, c.actor(), run); err != nil {
		return answer{}, err
	}
	return created(object{}), nil
}

// listChecks is GET /repos/{owner}/{repo}/commits/{ref}/check-runs.
func listChecks(c *call, sha string) (answer, error) {
	return pageChecks(c, func(k *model.CheckRun) bool { return k.SHA == sha })
}

func listSuiteChecks(c *call) (answer, error) {
	id := c.id("id")
	return pageChecks(c, func(k *model.CheckRun) bool { return k.Suite.ID == id })
}

// pageChecks lists check runs by the query: newest first, and with filter=latest,
// the default, the newest of each name in a suite.
func pageChecks(c *call, keep func(*model.CheckRun) bool) (answer, error) {
	latest := c.query.Get("filter") != "all"
	seen := map[string]bool{}
	var ks []*model.CheckRun
	for _, k := range slices.Backward(c.repo.Checks) {
		key := fmt.Sprint(k.Suite.ID, k.Name)
		if !keep(k) || latest && seen[key] {
			continue
		}
		seen[key] = true
		if n := c.query.Get("check_name"); n != "" && n != k.Name {
			continue
		}
		if st := c.query.Get("status"); st != "" && st != k.Status {
			continue
		}
		if id := c.query.Get("app_id"); id != "" && id != strconv.FormatInt(k.Suite.App.ID, 10) {
			continue
		}
		ks = append(ks, k)
	}
	return page(c, ks, "check_runs", func(k *model.CheckRun) object { return c.shape.Check(c.repo, k) })
}
