package work

import (
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

// countLimit is how much of the end of a log is searched for tests, in bytes: summaries are near it.
const countLimit = 32 << 20

// maxCountedChecks limits the checks with compared test counts. Checks without tests do not count.
const maxCountedChecks = 5

// countTests compares the number of tests that checks ran on the head and on the base commit, if both logs contain it.
// If the base's log does not, it compares the JUnit reports that both uploaded.
func (w *checkWorker) countTests(
	ctx context.Context, t sia.Task, e *headEvidence, pairs []gate.Pair,
) ([]gate.TestCount, error) {
	var out []gate.TestCount
	compared := map[int64]bool{} // workflow runs: their jobs share uploads
	for _, p := range pairs {
		if len(out) == maxCountedChecks {
			break
		}
		base, err := w.testsRun(ctx, t, e.base, p.Base)
		if err != nil {
			return nil, err
		}
		if base.Tests <= 0 {
			head, was := checkRunByID(e.head, p.Head), checkRunByID(e.base, p.Base)
			if was.RunID == 0 || compared[was.RunID] {
				continue
			}
			compared[was.RunID] = true
			n, err := w.compareReports(ctx, w.repo(t).Actions, head, was)
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
		if head.Tests >= 0 {
			out = append(out, gate.TestCount{Run: p.Head, Head: head.Tests, Base: base.Tests,
				Failed: head.Failed && !base.Failed})
		}
	}
	return out, nil
}

// testsRun returns what the log of a run says of its tests. Their number is 0 if the log does not contain it, and -1 if
// there is no log.
func (w *checkWorker) testsRun(ctx context.Context, t sia.Task, set github.CheckSet, id int64) (failure.Ran, error) {
	run := checkRunByID(set, id)
	log, err := w.repo(t).Actions.JobLog(ctx, run)
	if errors.Is(err, github.ErrNoLog) {
		return failure.Ran{Tests: -1}, nil
	}
	if err != nil {
		return failure.Ran{}, err
	}
	defer log.Close()
	var ran failure.Ran
	if _, err = io.CopyN(io.Discard, log, max(0, log.Length-countLimit)); err == nil {
		ran, err = failure.CountTests(log)
	}
	if err != nil {
		return failure.Ran{}, fmt.Errorf("count the tests of %s: %w", run.Name, err)
	}
	return ran, nil
}

// checkRunByID returns the check run with an id from a set that contains it.
func checkRunByID(set github.CheckSet, id int64) github.CheckRun {
	return set.Runs[slices.IndexFunc(set.Runs, func(r github.CheckRun) bool { return r.ID == id })]
}

// maxNamedGone is the maximum number of tests, missing from a report, that a sentence names.
const maxNamedGone = 3

// compareReports compares the tests in the JUnit reports of two workflow runs, matching reports by name. Base is 0 if
// there is nothing to compare, for example if the base's reports could not be read completely. A report that the head's
// run did not upload, or that can't be read, contains no test.
func (w *checkWorker) compareReports(
	ctx context.Context, actions *github.Actions, head, base github.CheckRun,
) (gate.TestCount, error) {
	out := gate.TestCount{Run: head.ID}
	of, err := actions.Artifacts(ctx, base.RunID)
	if err != nil {
		return out, err
	}
	var names []string
	was, is := map[string]bool{}, map[string]bool{}
	for _, a := range reportsAmong(of, base.Name) {
		ran, whole, err := w.testsInArtifact(ctx, actions, a)
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
	all, err := actions.Artifacts(ctx, head.RunID)
	if err != nil {
		return out, err
	}
	for _, a := range all {
		if slices.Contains(names, a.Name) {
			ran, _, err := w.testsInArtifact(ctx, actions, a)
			if err != nil {
				return out, err
			}
			maps.Copy(is, ran)
		}
	}
	out.Report, out.Head, out.Base = strings.Join(names, ", "), len(is), len(was)
	maps.DeleteFunc(was, func(test string, _ bool) bool { return is[test] })
	gone := slices.Sorted(maps.Keys(was))
	out.Gone = strings.Join(gone[:min(len(gone), maxNamedGone)], ", ")
	return out, nil
}

// testsInArtifact returns the tests that ran according to the reports in an artifact. If a part can't be read, it is
// logged and skipped, and whole is false. A temporary failure of GitHub is an error.
func (w *checkWorker) testsInArtifact(
	ctx context.Context, actions *github.Actions, a github.Artifact,
) (ran map[string]bool, whole bool, err error) {
	ran = map[string]bool{}
	packed, err := actions.ArtifactZip(ctx, a, artifactLimit)
	if err != nil && !sia.IsPermanent(err) {
		return nil, false, err
	}
	if err == nil {
		err = eachReport(packed, func(in io.Reader) error {
			found, err := testrun.ReadJUnit(in)
			for test, came := range found {
				if came != testrun.Skipped && len(ran) < maxRanTests {
					ran[w.Secrets.Mask(test)] = true
				}
			}
			return err
		})
	}
	if err != nil && ctx.Err() == nil {
		w.Logger.InfoContext(ctx, "a test report is left unread", "artifact", a.Name, "error", err)
		return ran, false, nil
	}
	return ran, true, ctx.Err()
}

// maxRanTests limits the tests of an artifact that are compared by name.
const maxRanTests = 100_000
