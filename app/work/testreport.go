package work

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia/failure"
)

// Limits of reading a run's artifacts, which the repository's own code uploads.
const (
	artifactLimit  = 32 << 20 // bytes of a zip
	maxArtifacts   = 3        // downloads per run
	maxReportFiles = 500      // files read per zip
	reportLimit    = 64 << 20 // total unpacked bytes of a zip's files
	maxReportTests = 200      // failed tests in a report
)

// reportName matches the names of artifacts that contain test reports.
var reportName = regexp.MustCompile(`(?i)junit|xunit|surefire|test.?(results?|reports?|output)|\breports?\b|^results?$`)

// isUninformative reports whether a log contained nothing about what failed, or only that tests did.
func isUninformative(rep failure.Report) bool {
	return len(rep.Tests) == 0 && (rep.Text == "" || rep.Class == failure.Unknown || rep.Class == failure.TestFailure ||
		rep.Bare)
}

// artifactUploaded matches the log line of actions/upload-artifact, and of the library that it and others use, after an
// upload.
// https://github.com/actions/upload-artifact/blob/main/src/shared/upload-artifact.ts
var artifactUploaded = regexp.MustCompile(`Artifact (\S.*?)(?: has been successfully uploaded|` +
	`\.zip successfully finalized)`)

// uploads collects the names of the artifacts that a job uploaded from its log, which is written to it. GitHub's API
// reports only the workflow run of an artifact.
type uploads struct {
	names []string
	line  []byte // beginning of an incomplete line
}

// Limits of uploads.
const (
	maxUploads    = 100
	maxUploadLine = 1000 // bytes of a line
)

func (u *uploads) Write(p []byte) (int, error) {
	for part := range bytes.Lines(p) {
		u.line = append(u.line, part[:min(len(part), maxUploadLine-len(u.line))]...)
		if part[len(part)-1] != '\n' {
			break
		}
		if m := artifactUploaded.FindSubmatch(u.line); m != nil && len(u.names) < maxUploads {
			u.names = append(u.names, string(m[1]))
		}
		u.line = u.line[:0]
	}
	return len(p), nil
}

// testReport returns the failed tests in the JUnit reports among the artifacts that a check uploaded; nil if there are
// none. Reports that can't be read are logged and skipped: the log was read, and the artifacts are an addition.
func (w *checkWorker) testReport(
	ctx context.Context, actions *github.Actions, run github.CheckRun, uploaded []string,
) (*failure.Report, error) {
	if run.RunID == 0 || len(uploaded) == 0 {
		return nil, nil
	}
	left := func(err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.Logger.InfoContext(ctx, "a test report is left unread", "check", run.Name, "error", err)
		return nil
	}
	all, err := actions.Artifacts(ctx, run.RunID)
	if err != nil {
		return nil, left(err)
	}
	all = slices.DeleteFunc(all, func(a github.Artifact) bool { return !slices.Contains(uploaded, a.Name) })
	for _, a := range reportsAmong(all, run.Name) {
		packed, err := actions.ArtifactZip(ctx, a, artifactLimit)
		if err != nil {
			if err := left(err); err != nil {
				return nil, err
			}
			continue
		}
		rep, err := readReports(ctx, packed)
		if err != nil {
			if err := left(fmt.Errorf("artifact %s: %w", a.Name, err)); err != nil {
				return nil, err
			}
		}
		if rep != nil {
			rep.Why = append(rep.Why, "the test report "+a.Name+" of the job; the log says nothing clearer")
			return rep, nil
		}
	}
	return nil, nil
}

// reportsAmong returns the artifacts that look like test reports: those that contain the check's name first, then the
// newest.
func reportsAmong(all []github.Artifact, check string) []github.Artifact {
	named := func(a github.Artifact) bool {
		return len(check) > 2 && strings.Contains(strings.ToLower(a.Name), strings.ToLower(check))
	}
	var out []github.Artifact
	for _, a := range all {
		if reportName.MatchString(a.Name) && a.Size <= artifactLimit {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b github.Artifact) int {
		if x, y := named(a), named(b); x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.ID, a.ID)
	})
	return out[:min(len(out), maxArtifacts)]
}

// readReports reads the JUnit reports among the XML files of a zip. The report is nil if none contains a failure; the
// error is the reason why something was not read.
func readReports(ctx context.Context, packed []byte) (*failure.Report, error) {
	var out *failure.Report
	err := eachReport(packed, func(in io.Reader) error {
		rep, err := failure.Read(ctx, in, failure.Options{})
		switch {
		case err != nil || len(rep.Tests) == 0 || !slices.ContainsFunc(rep.Why, fromJUnit):
		case out == nil:
			rep.Excerpt, rep.Line, rep.StepLine = []failure.Span{}, 0, 0 // positions in the XML, not in the log
			out = &rep
		default:
			out.Tests = append(out.Tests, rep.Tests[:min(len(rep.Tests), max(0, maxReportTests-len(out.Tests)))]...)
		}
		return err
	})
	return out, err
}

// eachReport calls read for each XML file of a zip, up to the limits of files and of unpacked bytes.
func eachReport(packed []byte, read func(io.Reader) error) error {
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	in, files := &unpacked{room: reportLimit}, 0
	for _, f := range z.File {
		if !strings.EqualFold(path.Ext(f.Name), ".xml") {
			continue
		}
		if files++; files > maxReportFiles {
			return fmt.Errorf("more than %d reports; the rest was not read", maxReportFiles)
		}
		file, err := f.Open()
		if err == nil {
			in.file = file
			err = errors.Join(read(in), file.Close())
		}
		if err != nil {
			return fmt.Errorf("unpack %s: %w", f.Name, err)
		}
	}
	return nil
}

// unpacked is a reader of one of a zip's files after another, of room bytes in all.
type unpacked struct {
	file io.Reader
	room int64
}

func (u *unpacked) Read(p []byte) (int, error) {
	if u.room < 0 {
		return 0, errTooLarge
	}
	n, err := u.file.Read(p[:min(int64(len(p)), u.room+1)])
	if u.room -= int64(n); u.room < 0 {
		return n - 1, errTooLarge
	}
	return n, err
}

var errTooLarge = errors.New("the reports unpack to more than 64 MiB; the rest was not read")

// fromJUnit reports whether a reason describes a JUnit report, not other XML read as a log.
func fromJUnit(why string) bool { return strings.Contains(why, "JUnit XML") }
