package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// standing is the result of a report.
type standing int

const (
	green   standing = iota // it ran and succeeded
	skipped                 // GitHub treats it as success; it is no evidence
	running                 // it has not completed
	red                     // it ran and failed
	blocked                 // it ended without a verdict: a person or another run has to act
)

// The conclusions that GitHub treats as success, and those of failures.
// "Successful check statuses are: success, skipped, and neutral."
// https://docs.github.com/en/pull-requests/reference/status-checks
// https://docs.github.com/en/rest/guides/using-the-rest-api-to-interact-with-checks
var (
	successful = []string{"success", "skipped", "neutral"}
	failed     = []string{"failure", "timed_out", "startup_failure"}
)

// standing converts the state of a status, or the status and the conclusion of a check run.
// https://docs.github.com/en/rest/commits/statuses#create-a-commit-status
func (p report) standing() standing {
	if p.status != nil {
		switch p.status.State {
		case "success":
			return green
		case "pending":
			return running
		}
		return red // failure and error
	}
	switch k := p.check; {
	case k.Status != "completed":
		return running
	case k.Conclusion == "success":
		return green
	case k.Conclusion == "skipped" || k.Conclusion == "neutral":
		return skipped
	case slices.Contains(failed, k.Conclusion) && !neverStarted(k.Job):
		return red
	}
	return blocked // action_required, cancelled, stale
}

// neverStarted reports whether a job failed before its first step, because of a bill, a quota or a spending limit. It
// has an annotation and no log.
// https://docs.github.com/en/billing/concepts/product-billing/github-actions
func neverStarted(j *model.Job) bool { return j != nil && len(j.Steps) == 0 && len(j.Log) == 0 }

// obstacle is what a blocked check waits for.
func (p report) obstacle() string {
	switch p.check.Conclusion {
	case "action_required":
		return "somebody has to act"
	case "cancelled":
		return "it was cancelled, and no later run replaced it"
	case "stale":
		return "GitHub marked it stale, because it took too long"
	}
	return "its job was never started"
}

// explained reports whether a job explains why its run is not green.
func explained(run *model.Run) bool {
	return slices.ContainsFunc(jobsOf(run), func(p report) bool {
		return p.standing() == red || p.standing() == blocked
	})
}

// failureInRun explains why a skipped job is not green; "" if it is. A skipped job is green only if nothing that it
// needed failed, except for excused jobs. If its file does not name its dependencies, no job of its run may have
// failed.
//
// "When a job fails, any jobs that depend on the failed job are skipped and do not report a
// failure. A pull request that requires the check may not be blocked."
// https://docs.github.com/en/pull-requests/how-tos/merge-and-close-pull-requests/troubleshooting-required-status-checks
// https://github.com/G-Research/ParquetSharp/issues/367
func (v *verdict) failureInRun(p report) string {
	j := p.job()
	if j == nil {
		return ""
	}
	waits := ""
	file := v.fileOf(j)
	_, known := file.Jobs[key(j)]
	needs := file.needs(key(j))
	for _, o := range jobsOf(j.Run) {
		switch {
		case known && !needs[key(o.job())], jobReplaced(v.repo, o.job()):
		case o.standing() == red && !v.base.excuse(v.repo, o):
			return fmt.Sprintf("%q of the same run is red", o.name) // whatever else was cancelled because of it
		case o.standing() == blocked && waits == "":
			waits = fmt.Sprintf("%q of the same run is not green: %s", o.name, o.obstacle())
		}
	}
	if waits != "" {
		return waits
	}
	if run := j.Run; run.Status == "completed" && !slices.Contains(successful, run.Conclusion) && !explained(run) &&
		!runReplaced(v.repo, run) && !v.base.excuseRun(v.repo, run) {
		return fmt.Sprintf("its run ended as %s", run.Conclusion)
	}
	return ""
}

// guard matches a condition that only skips drafts, or an app's pull requests and pushes.
var guard = regexp.MustCompile(`^(\$\{\{)?\s*(!\s*github\.event\.pull_request\.draft|` +
	`github\.event\.pull_request\.draft == false|github\.event\.pull_request\.user\.type != 'Bot'|` +
	`github\.actor != '[\w-]+\[bot\]')\s*(\}\})?$`)

// wronglySkipped explains why a skipped job should have run; "" if it need not. GitHub treats it as success. SIA
// promises that a job that ran for this pull request before must run again, and so must a job that is only skipped for
// drafts or apps: marking a draft ready starts no workflow without that type. A job may be skipped because of another
// job's result.
// https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/control-jobs-with-conditions
func (v *verdict) wronglySkipped(p report) string {
	j := p.job()
	if j == nil || p.check.Conclusion != "skipped" || slices.Contains(v.q.Waived, p.name) || v.ranElsewhere(j) {
		return "" // a neutral job ran
	}
	file := v.fileOf(j)
	if !file.Jobs[key(j)].checksOut() {
		return ""
	}
	asks := fmt.Sprint(file.Jobs[key(j)].If)
	for need := range file.needs(key(j)) {
		asks += fmt.Sprint(file.Jobs[need].If)
	}
	switch {
	case strings.Contains(asks, ".outputs") || strings.Contains(asks, "event.action"):
		return ""
	case guard.MatchString(fmt.Sprint(file.Jobs[key(j)].If)) && !skippedByNeed(file, j):
		return "its condition passes over drafts or apps"
	}
	for _, sha := range v.q.Earlier {
		for _, was := range reportsOn(v.repo, v.q.Own, sha, "") {
			o := was.job()
			if o != nil && was.standing() != skipped && sha != v.pull.HeadSHA && o.Run.Event.Name == j.Run.Event.Name &&
				o.Check.Name == j.Check.Name && sameWorkflow(v.repo, o.Run, j.Run) {
				return "it ran on an earlier head"
			}
		}
	}
	return ""
}

// skippedByNeed reports whether GitHub would have skipped a job with a guard without that, too: a condition that asks
// for no status is only evaluated if all jobs that it needs have succeeded.
// https://docs.github.com/en/actions/reference/workflows-and-actions/expressions#status-check-functions
func skippedByNeed(file workflowFile, j *model.Job) bool {
	needs := file.needs(key(j))
	return slices.ContainsFunc(jobsOf(j.Run), func(o report) bool {
		return needs[key(o.job())] && o.standing() == red
	})
}

// ranElsewhere reports whether a job has run in another run of its workflow on the head, or a later run will skip it.
func (v *verdict) ranElsewhere(j *model.Job) bool {
	return slices.ContainsFunc(v.reports, func(p report) bool {
		o := p.job()
		return o != nil && o != j && key(o) == key(j) && sameWorkflow(v.repo, o.Run, j.Run) &&
			(p.standing() != skipped || o.ID > j.ID)
	})
}

// excuses are the red reports of the base commit: they are not the pull request's fault.
type excuses struct {
	checks map[excuse][]string // the errors in the logs
	runs   map[excuse]bool
}

// excuse identifies a report across commits: a job by its workflow and its name, a check run by its app and its name, a
// status by its context.
type excuse struct {
	source int64  // of a workflow's repository
	path   string // of a workflow
	app    int64
	name   string
}

func excusesOf(r *model.Repository, q Question) excuses {
	e := excuses{checks: map[excuse][]string{}, runs: map[excuse]bool{}}
	if q.Base == "" {
		return e
	}
	for _, p := range reportsOn(r, q.Own, q.Base, "") {
		if p.standing() == red {
			k := excuseFor(r, p)
			e.checks[k] = append(e.checks[k], p.errors()...)
			if e.checks[k] == nil {
				e.checks[k] = []string{}
			}
		}
	}
	for _, run := range runsOn(r, q.Base) {
		if slices.Contains(failed, run.Conclusion) && !explained(run) {
			e.runs[excuse{source: run.Source(r).ID, path: run.Path}] = true
		}
	}
	return e
}

func excuseFor(r *model.Repository, p report) excuse {
	switch j := p.job(); {
	case j != nil:
		return excuse{source: j.Run.Source(r).ID, path: j.Run.Path, name: p.name}
	case p.check != nil:
		return excuse{app: p.check.Suite.App.ID, name: p.name}
	}
	return excuse{name: p.name}
}

// excuse reports whether a report is red on the base, too, and has no error that none there has. If one of the two has
// no errors, they can't be compared.
func (e excuses) excuse(r *model.Repository, p report) bool {
	there, ok := e.checks[excuseFor(r, p)]
	isNew := func(l string) bool { return !slices.Contains(there, l) }
	return ok && (len(there) == 0 || !slices.ContainsFunc(p.errors(), isNew))
}

var (
	// stamp matches the timestamp with which GitHub begins a line of a log.
	stamp = regexp.MustCompile(`^\S+T[\d:.]+Z `)
	// varies matches parts that differ between occurrences of the same error.
	varies = regexp.MustCompile(`[0-9a-f]{7,}|\d+`)
)

// errors are the lines of a job's log with errors.
func (p report) errors() (lines []string) {
	j := p.job()
	if j == nil {
		return nil
	}
	for l := range strings.Lines(string(j.Log)) {
		if l = stamp.ReplaceAllString(l, ""); strings.Contains(l, ": error:") {
			lines = append(lines, varies.ReplaceAllString(strings.TrimSpace(l), "#"))
		}
	}
	return lines
}

func (e excuses) excuseRun(r *model.Repository, run *model.Run) bool {
	return e.runs[excuse{source: run.Source(r).ID, path: run.Path}]
}
