package work

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/gate"
)

// countLimit is how much of a log is read for what it says of tests: summaries stand near
// its end.
const countLimit = 32 << 20

// maxCounted bounds the checks of which tests are compared. Those without tests take no place.
const maxCounted = 5

// countTests compares how many tests checks ran with how many they ran on the base commit,
// where both logs say it. Where the base's says nothing of tests, the JUnit reports that both uploaded do.
func (w *checkWorker) countTests(
	ctx context.Context, t sia.Task, e *headEvidence, pairs []gate.Pair,
) ([]gate.TestCount, error) {
	var out []gate.TestCount
	compared := map[int64]bool{} // workflow runs: their jobs share what they uploaded
	for _, p := range pairs {
		if len(out) == maxCounted {
			break
		}
		base, err := w.testsRun(ctx, t, e.base, p.Base)
		if err != nil {
			return nil, err
		}
		if base <= 0 {
			head, was := runOf(e.head, p.Head), runOf(e.base, p.Base)
			if was.RunID == 0 || compared[was.RunID] {
				continue
			}
			compared[was.RunID] = true
			n, err := w.compareReports(ctx, w.repo(t), head, was)
			if err != nil {
				return nil, err
			}
			if n.Base > 0 {
				out = append(out, n)
			}
			continue
		}
		head, err := w.testsRun(ctx, t, e.head, p.Head)
		if err != nil {
			return nil, err
		}
		if head >= 0 {
			out = append(out, gate.TestCount{Run: p.Head, Head: head, Base: base})
		}
	}
	return out, nil
}

// testsRun is how many tests the log of a run says have run, 0 where it says nothing of
// them; -1: there is no log.
func (w *checkWorker) testsRun(ctx context.Context, t sia.Task, set github.CheckSet, id int64) (int, error) {
	run := runOf(set, id)
	log, err := w.repo(t).JobLog(ctx, run, countLimit)
	if errors.Is(err, github.ErrNoLog) {
		return -1, nil
	}
	if err != nil {
		return 0, err
	}
	defer log.Close()
	n, _, err := failure.CountTests(log)
	if err != nil {
		return 0, fmt.Errorf("count the tests of %s: %w", run.Name, err)
	}
	return n, nil
}

// runOf is a check run of a set that has it.
func runOf(set github.CheckSet, id int64) github.CheckRun {
	return set.Runs[slices.IndexFunc(set.Runs, func(r github.CheckRun) bool { return r.ID == id })]
}

// mostGone is how many tests a sentence names that a report has no more.
const mostGone = 3

// compareReports compares the tests that ran by the JUnit reports of two workflow runs: those of the same names. Base
// is 0 where there is nothing to compare, as where the base's could not be read to their end. A report that the head's
// run did not upload, or that can't be read, names no test.
func (w *checkWorker) compareReports(
	ctx context.Context, repo *github.Repo, head, base github.CheckRun,
) (gate.TestCount, error) {
	out := gate.TestCount{Run: head.ID}
	of, err := repo.Artifacts(ctx, base.RunID)
	if err != nil {
		return out, err
	}
	var names []string
	was, is := map[string]bool{}, map[string]bool{}
	for _, a := range reportsAmong(of, base.Name) {
		ran, whole, err := w.ranIn(ctx, repo, a)
		if err != nil {
			return out, err
		}
		if whole && len(ran) > 0 {
			names = append(names, a.Name)
			maps.Copy(was, ran)
		}
	}
	if len(was) == 0 {
		return out, nil
	}
	all, err := repo.Artifacts(ctx, head.RunID)
	if err != nil {
		return out, err
	}
	for _, a := range all {
		if slices.Contains(names, a.Name) {
			ran, _, err := w.ranIn(ctx, repo, a)
			if err != nil {
				return out, err
			}
			maps.Copy(is, ran)
		}
	}
	out.Report, out.Head, out.Base = strings.Join(names, ", "), len(is), len(was)
	maps.DeleteFunc(was, func(test string, _ bool) bool { return is[test] })
	gone := slices.Sorted(maps.Keys(was))
	out.Gone = strings.Join(gone[:min(len(gone), mostGone)], ", ")
	return out, nil
}

// ranIn are the tests that ran by the reports in an artifact. What can't be read of it is logged and left out, and
// whole is false; what GitHub may yet give is an error.
func (w *checkWorker) ranIn(
	ctx context.Context, repo *github.Repo, a github.Artifact,
) (ran map[string]bool, whole bool, err error) {
	ran = map[string]bool{}
	packed, err := repo.ArtifactZip(ctx, a, artifactLimit)
	if err != nil && !sia.IsPermanent(err) {
		return nil, false, err
	}
	if err == nil {
		err = eachReport(packed, func(f *zip.File, room int64) (int64, error) {
			file, err := f.Open()
			if err != nil {
				return 0, fmt.Errorf("unpack %s: %w", f.Name, err)
			}
			defer file.Close()
			text, err := io.ReadAll(io.LimitReader(file, room+1))
			if err == nil && int64(len(text)) > room {
				err = errTooLarge
			}
			for test, came := range testrun.JUnit(text) {
				if came != testrun.Skipped && len(ran) < maxRanTests {
					ran[w.Secrets.Mask(test)] = true
				}
			}
			return int64(len(text)), err
		})
	}
	if err != nil && ctx.Err() == nil {
		w.Logger.InfoContext(ctx, "a test report is left unread", "artifact", a.Name, "error", err)
		return ran, false, nil
	}
	return ran, true, ctx.Err()
}

// maxRanTests bounds the tests of an artifact that are compared by name.
const maxRanTests = 100_000
