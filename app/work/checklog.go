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
	"github.com/sia-bot/sia/sia/view"
)

// checkLog is the content of a red check run.
type checkLog struct {
	notStarted string // why a job was never started; empty: it was
	run        int64  // the check run's id
	failure    sia.CheckFailure
	tests      []string // full names of the failed tests
	detail     string   // long extract about the failure
}

// readLog reads a red check run: its annotations and its log if there are any, otherwise its output. If the log
// contains no failure, it reads test reports that the job uploaded. green is a run of the same check that passed; nil:
// unknown.
func (w *checkWorker) readLog(
	ctx context.Context, repo *github.Repo, run github.CheckRun, green *github.CheckRun,
) (checkLog, error) {
	opts := failure.Options{Name: run.Name}
	log, err := jobLog(ctx, repo.Actions, run)
	if err != nil && !errors.Is(err, github.ErrNoLog) {
		return checkLog{}, err
	}
	if err == nil {
		defer log.Close()
	}
	if err != nil || run.AnnotationsCount > runnerAnnotations || run.Conclusion == "cancelled" {
		if opts.Annotations, err = annotations(ctx, repo, run); err != nil {
			return checkLog{}, err
		}
	}
	if log == nil {
		return readWithoutLog(ctx, run, opts)
	}
	if green != nil {
		before, err := repo.Actions.JobLog(ctx, *green)
		if err == nil {
			defer before.Close()
			opts.Green = before
		} else if !errors.Is(err, github.ErrNoLog) {
			w.Logger.WarnContext(ctx, "the log of the last passing run is not compared", "check", run.Name, "error", err)
		}
	}
	var uploaded uploads
	rep, err := readCheck(ctx, io.TeeReader(log, &uploaded), run, opts)
	if err != nil {
		return checkLog{}, fmt.Errorf("read the log of %s: %w", run.Name, err)
	}
	if isUninformative(rep) {
		tests, err := w.testReport(ctx, repo.Actions, run, uploaded.names)
		if err != nil {
			return checkLog{}, err
		}
		if tests != nil {
			return checkLogOf(run, *tests), nil
		}
	}
	out := checkLogOf(run, rep)
	if rep.StepLine > 0 {
		step, err := repo.Actions.FailedStep(ctx, run)
		if err != nil {
			w.Logger.WarnContext(ctx, "the failed step is not known, so its log is linked as a whole", "check", run.Name,
				"error", err)
		}
		out.failure.URL = logLineURL(run, step, rep.StepLine)
	}
	return out, nil
}

// logLineURL returns the URL of a line of a step's log, or that of the run if the step is unknown or the run has no
// page for its job.
func logLineURL(run github.CheckRun, step, line int) string {
	for _, page := range []string{run.URL, run.DetailsURL} {
		if step > 0 && strings.Contains(page, "/job/") && !strings.Contains(page, "#") {
			return fmt.Sprintf("%s#step:%d:%d", page, step, line)
		}
	}
	return run.URL
}

// runnerAnnotations is the number of annotations that the runner itself adds to a failed job. They report a command's
// exit code, which the log contains too.
const runnerAnnotations = 1

// annotations returns the annotations of a check run.
func annotations(ctx context.Context, repo *github.Repo, run github.CheckRun) ([]view.Annotation, error) {
	if run.AnnotationsCount == 0 {
		return nil, nil
	}
	return repo.Checks.Annotations(ctx, run.ID)
}

// jobLog returns the log of a check run, or [github.ErrNoLog] if it is empty.
func jobLog(ctx context.Context, actions *github.Actions, run github.CheckRun) (io.ReadCloser, error) {
	log, err := actions.JobLog(ctx, run)
	if err != nil {
		return nil, err
	}
	r := bufio.NewReader(log)
	if _, err := r.Peek(1); errors.Is(err, io.EOF) {
		log.Close()
		return nil, github.ErrNoLog
	}
	return bufferedLog{r, log}, nil
}

// bufferedLog is a log with its buffered reader.
type bufferedLog struct {
	io.Reader
	io.Closer
}

// readWithoutLog reads a check run that has no log: a job that was never started, or a check of an app that stores its
// logs elsewhere.
func readWithoutLog(ctx context.Context, run github.CheckRun, opts failure.Options) (checkLog, error) {
	if run.AppSlug == github.ActionsApp {
		if why, words, ok := failure.NeverStarted(opts.Annotations); ok {
			return checkLogOf(run, failure.Report{Text: text.Clip(words, 300), Signature: string(why),
				Class: failure.NotStarted}), nil
		}
	}
	return readOutput(ctx, run, opts)
}

// readOutput reads the output on the page of a check run without a log.
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

// readCheck reads a check run's log. A canceled run gets the class Cancelled, unless GitHub canceled it at its time
// limit.
func readCheck(ctx context.Context, log io.Reader, run github.CheckRun, opts failure.Options) (failure.Report, error) {
	rep, err := failure.Read(ctx, log, opts)
	if run.Conclusion == "cancelled" && !failure.TimedOut(opts.Annotations) {
		rep.Class = failure.Cancelled
	}
	return rep, err
}

func checkLogOf(run github.CheckRun, rep failure.Report) checkLog {
	out := checkLog{run: run.ID, failure: failure.CheckFailure(run.Name, run.URL, rep), detail: cmp.Or(rep.Long, rep.Text)}
	for _, t := range rep.Tests {
		out.tests = append(out.tests, t.FullName())
	}
	if rep.Class == failure.NotStarted {
		out.notStarted = rep.Text
	}
	return out
}
