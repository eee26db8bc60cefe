package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/failure"
)

// logLimit is how much of a log is read; the reader itself needs bounded memory.
const logLimit = 256 << 20

// checkLog is what a red check run says.
type checkLog struct {
	run     int64 // its id
	failure sia.CheckFailure
	long    string // what tells of the failure at length
}

// readLog reads what a red check run says: its annotations and its log when there
// are any, else its output. green is a run of the same check that passed; nil:
// none is known.
func (w *Worker) readLog(
	ctx context.Context, repo *github.Repo, run github.CheckRun, green *github.CheckRun,
) (checkLog, error) {
	opts := failure.Options{Name: run.Name}
	if run.AnnotationsCount > 0 {
		list, err := repo.Annotations(ctx, run.ID)
		if err != nil {
			return checkLog{}, err
		}
		for _, a := range list {
			opts.Annotations = append(opts.Annotations,
				failure.Annotation{Path: a.Path, Line: a.StartLine, Level: a.Level, Title: a.Title, Message: a.Message})
		}
	}
	log, err := repo.JobLog(ctx, run, logLimit)
	switch {
	case errors.Is(err, github.ErrNoLog):
		return readOutput(run, opts)
	case err != nil:
		return checkLog{}, err
	}
	defer log.Close()
	if green != nil {
		before, err := repo.JobLog(ctx, *green, logLimit)
		if err == nil {
			defer before.Close()
			opts.Green = before
		} else if !errors.Is(err, github.ErrNoLog) {
			return checkLog{}, err
		}
	}
	rep, err := failure.Read(log, opts)
	if err != nil {
		return checkLog{}, fmt.Errorf("read the log of %s: %w", run.Name, err)
	}
	if rep.Line > 0 {
		rep.Line += log.Skipped
	}
	return checkLogOf(run, rep), nil
}

// readOutput reads what a check run without a log shows on its page.
func readOutput(run github.CheckRun, opts failure.Options) (checkLog, error) {
	rep, err := failure.Read(strings.NewReader(run.OutputTitle+"\n"+run.OutputSummary), opts)
	if err != nil {
		return checkLog{}, fmt.Errorf("read the output of %s: %w", run.Name, err)
	}
	if rep.Text == "" {
		rep.Text = run.Name + " ended as " + run.Conclusion
	}
	return checkLogOf(run, rep), nil
}

func checkLogOf(run github.CheckRun, rep failure.Report) checkLog {
	return checkLog{run: run.ID, failure: failure.CheckFailure(run.Name, run.URL, rep), long: cmp.Or(rep.Long, rep.Text)}
}
