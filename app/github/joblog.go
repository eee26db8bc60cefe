package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

const (
	maxLogBytes   = 512 << 20 // maximum size of a log, in bytes
	logRetryAfter = 10 * time.Second
)

// Log is a job's log as a stream. The caller must close it.
type Log struct {
	io.ReadCloser
	Length int64 // in bytes; -1: unknown
}

// JobLog returns the log of a GitHub Actions job. The error is [ErrNoLog] if there is no log, or if it is larger than
// 512 MiB. Of a log of unknown length, it returns the first 512 MiB.
// https://docs.github.com/en/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
func (s *Actions) JobLog(ctx context.Context, run CheckRun) (*Log, error) {
	op := fmt.Sprintf("read the log of %s in %s", run.Name, s.repo)
	if run.JobID == 0 {
		return nil, noFile(op, "log", "it did not run on GitHub Actions, so only its summary can be read")
	}
	at, resp, err := s.gh.Actions.GetWorkflowJobLogs(ctx, s.repo.Owner, s.repo.Name, run.JobID, 1)
	ctx, cancel := context.WithCancel(ctx)
	stall := time.AfterFunc(logStall, cancel)
	body, length, err := s.open(ctx, op, "log", at, resp, err)
	stall.Stop()
	if err == nil && length > maxLogBytes {
		body.Close()
		err = noFile(op, "log", fmt.Sprintf("it is larger than %d MiB", maxLogBytes>>20))
	}
	if err != nil {
		cancel()
		return nil, err
	}
	end := func() error { cancel(); return body.Close() }
	in := &stallingReader{in: io.LimitReader(body, maxLogBytes), stall: stall}
	return &Log{closingReader{in, end}, length}, nil
}

// stallingReader ends a download that sends nothing for [logStall] while it is read. Time in which nobody reads does
// not count.
type stallingReader struct {
	in    io.Reader
	stall *time.Timer // cancels the download
}

func (r *stallingReader) Read(b []byte) (int, error) {
	r.stall.Reset(logStall)
	n, err := r.in.Read(b)
	if !r.stall.Stop() && err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("nothing arrived for %s: %w", logStall, context.DeadlineExceeded)
	}
	return n, err
}

// noFile is the error for a log or an artifact that can't be read.
func noFile(op, what, why string) error {
	return &sia.Error{Op: op, Message: "there is no " + what + ": " + why, Permanent: true, Err: ErrNoLog}
}

// open opens a log or an artifact at the address that GitHub answered; its length is -1 if it is unknown. The address
// has a signature that gives anybody access; [App.failure] removes it from errors.
func (s *Actions) open(
	ctx context.Context, op, what string, at *url.URL, resp *gh.Response, err error,
) (body io.ReadCloser, length int64, _ error) {
	if resp != nil && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone) {
		return nil, 0, noFile(op, what, "GitHub has none, or it has expired")
	}
	if resp != nil && err != nil {
		err = refusalOf(resp.Response)
	}
	if isAccepted(err) {
		return nil, 0, &sia.Error{Op: op, Message: "GitHub is still preparing it; SIA asks again",
			RetryAfter: logRetryAfter, Err: &redactedError{err}}
	}
	if err == nil {
		body, length, err = s.fetch(ctx, at)
	}
	if errors.Is(err, ErrNoLog) {
		return nil, 0, noFile(op, what, "it has expired")
	}
	return body, length, s.app.failure(err, "%s", op)
}

// fetch downloads a file from storage, unauthenticated; its length is -1 if it is unknown. The error is [ErrNoLog] if
// it does not exist.
func (s *Actions) fetch(ctx context.Context, at *url.URL) (body io.ReadCloser, length int64, err error) {
	if at.Scheme != "https" && at.Scheme != s.app.api.Scheme {
		return nil, 0, fmt.Errorf("the file's address is not https but %q", at.Scheme)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, 0, fmt.Errorf("the file's address can't be read") // err contains the signature
	}
	req.Header.Set("Accept-Encoding", "identity") // so that the length is known
	req.Header.Set("User-Agent", "sia")
	resp, err := s.app.retryTransport(0).RoundTrip(req)
	if err != nil {
		return nil, 0, err
	}
	switch resp.StatusCode {
	case http.StatusOK:
		return resp.Body, resp.ContentLength, nil
	case http.StatusNotFound, http.StatusGone, http.StatusForbidden: // 403: the signature has expired
		discard(resp)
		return nil, 0, ErrNoLog
	default:
		discard(resp)
		return nil, 0, fmt.Errorf("storage answered %s", resp.Status)
	}
}

// closingReader is a reader with its own Close function.
type closingReader struct {
	io.Reader
	end func() error
}

func (c closingReader) Close() error { return c.end() }
