package work

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/text"
)

// logLimit is how much of a log is read; the reader itself needs bounded memory.
const logLimit = 256 << 20

// checkLog is what a red check run says.
type checkLog struct {
	said    string // of a job that was never started: why
	run     int64  // its id
	failure sia.CheckFailure
	long    string // what tells of the failure at length
}

// readLog reads what a red check run says: its annotations and its log when there
// are any, else its output. Where the log tells nothing, test reports that the job uploaded are read. green is a run
// of the same check that passed; nil: none is known.
func (w *checkWorker) readLog(
	ctx context.Context, repo *github.Repo, run github.CheckRun, green *github.CheckRun,
) (checkLog, error) {
	opts := failure.Options{Name: run.Name}
	log, err := jobLog(ctx, repo, run)
	if err != nil && !errors.Is(err, github.ErrNoLog) {
		return checkLog{}, err
	}
	if err == nil {
		defer log.Close()
	}
	if err != nil || run.AnnotationsCount > runnersOwn || run.Conclusion == "cancelled" {
		if opts.Annotations, err = annotations(ctx, repo, run); err != nil {
			return checkLog{}, err
		}
	}
	if log == nil {
		return withoutLog(ctx, run, opts)
	}
	if green != nil {
		before, err := repo.JobLog(ctx, *green, logLimit)
		if err == nil {
			defer before.Close()
			opts.Green = before
		} else if !errors.Is(err, github.ErrNoLog) {
			return checkLog{}, err
		}
	}
	var uploaded uploads
	rep, err := readCheck(ctx, io.TeeReader(log, &uploaded), run, opts)
	if err != nil {
		return checkLog{}, fmt.Errorf("read the log of %s: %w", run.Name, err)
	}
	if silent(rep) {
		tests, err := w.testReport(ctx, repo, run, uploaded.names)
		if err != nil {
			return checkLog{}, err
		}
		if tests != nil {
			return checkLogOf(run, *tests), nil
		}
	}
	if rep.Line > 0 {
		rep.Line += log.Skipped
	}
	out := checkLogOf(run, rep)
	if rep.StepLine > 0 {
		step, err := repo.FailedStep(ctx, run)
		if err != nil {
			w.Logger.WarnContext(ctx, "the failed step is not known, so its log is linked as a whole", "check", run.Name,
				"error", err)
		}
		out.failure.URL = logLine(run, step, rep.StepLine)
	}
	return out, nil
}

// logLine is the address of a line of a step's log, and where the step is not known or the
// run has no page for its job, that of the run.
func logLine(run github.CheckRun, step, line int) string {
	for _, page := range []string{run.URL, run.DetailsURL} {
		if step > 0 && strings.Contains(page, "/job/") && !strings.Contains(page, "#") {
			return fmt.Sprintf("%s#step:%d:%d", page, step, line)
		}
	}
	return run.URL
}

// runnersOwn is how many annotations the runner itself puts on a job that fails: that
// a command ended with some code. The job's log says as much.
const runnersOwn = 1

// annotations are those of a check run.
func annotations(ctx context.Context, repo *github.Repo, run github.CheckRun) (out []failure.Annotation, err error) {
	if run.AnnotationsCount == 0 {
		return nil, nil
	}
	list, err := repo.Annotations(ctx, run.ID)
	for _, a := range list {
		out = append(out,
			failure.Annotation{Path: a.Path, Line: a.StartLine, Level: a.Level, Title: a.Title, Message: a.Message})
	}
	return out, err
}

// jobLog is the log of a check run; one that is empty is none.
func jobLog(ctx context.Context, repo *github.Repo, run github.CheckRun) (*github.Log, error) {
	log, err := repo.JobLog(ctx, run, logLimit)
	if err != nil {
		return nil, err
	}
	r := bufio.NewReader(log)
	if _, err := r.Peek(1); errors.Is(err, io.EOF) {
		log.Close()
		return nil, github.ErrNoLog
	}
	return &github.Log{ReadCloser: peeked{r, log.ReadCloser}, Skipped: log.Skipped}, nil
}

// peeked is a log of which something was read ahead.
type peeked struct {
	io.Reader
	io.Closer
}

// withoutLog reads a check run that has no log: a job that was never started, or the
// check of an app that keeps its logs itself.
func withoutLog(ctx context.Context, run github.CheckRun, opts failure.Options) (checkLog, error) {
	if run.AppSlug == github.ActionsApp {
		if why, words, ok := failure.NeverStarted(opts.Annotations); ok {
			return checkLogOf(run, failure.Report{Text: text.Clip(words, 300), Signature: string(why),
				Class: failure.NotStarted}), nil
		}
	}
	return readOutput(ctx, run, opts)
}

// readOutput reads what a check run without a log shows on its page.
func readOutput(ctx context.Context, run github.CheckRun, opts failure.Options) (checkLog, error) {
	rep, err := readCheck(ctx, strings.NewReader(run.OutputTitle+"\n"+run.OutputSummary), run, opts)
	if err != nil {
		return checkLog{}, fmt.Errorf("read the output of %s: %w", run.Name, err)
	}
	if rep.Text == "" {
		rep.Text = run.Name + " ended as " + run.Conclusion
	}
	return checkLogOf(run, rep), nil
}

// readCheck reads what a check run says. One that was cancelled has failed of nothing that its log tells, unless
// GitHub ended it at its time limit.
func readCheck(ctx context.Context, log io.Reader, run github.CheckRun, opts failure.Options) (failure.Report, error) {
	rep, err := failure.Read(ctx, log, opts)
	if run.Conclusion == "cancelled" && !failure.TimedOut(opts.Annotations) {
		rep.Class = failure.Cancelled
	}
	return rep, err
}

func checkLogOf(run github.CheckRun, rep failure.Report) checkLog {
	out := checkLog{run: run.ID, failure: failure.CheckFailure(run.Name, run.URL, rep), long: cmp.Or(rep.Long, rep.Text)}
	if rep.Class == failure.NotStarted {
		out.said = rep.Text
	}
	return out
}
