package github

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Log is the end of a job's log. The caller must close it.
type Log struct {
	io.ReadCloser
	Skipped int // number of lines before the first one here
}

const (
	defaultLogBytes = 16 << 20  // default number of bytes to keep
	maxLogBytes     = 512 << 20 // maximum size of a download, in bytes
	logRetryAfter   = 10 * time.Second
)

// JobLog returns the last limit bytes, in whole lines, of the log of a GitHub Actions job; limit 0 means 16 MiB. If
// GitHub reports its length, the log is streamed, so that a large one takes little memory. The error is [ErrNoLog] if
// there is no log.
// https://docs.github.com/en/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
func (r *Repo) JobLog(ctx context.Context, run CheckRun, limit int64) (*Log, error) {
	op := fmt.Sprintf("read the log of %s in %s", run.Name, r.repo)
	if limit <= 0 {
		limit = defaultLogBytes
	}
	if run.JobID == 0 {
		return nil, noLog(op, "it did not run on GitHub Actions, so only its summary can be read")
	}
	at, resp, err := r.gh.Actions.GetWorkflowJobLogs(ctx, r.repo.Owner, r.repo.Name, run.JobID, 1)
	if resp != nil && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone) {
		return nil, noLog(op, "GitHub has none, or it has expired")
	}
	if resp != nil && err != nil {
		err = refusalOf(resp.Response)
	}
	if isAccepted(err) {
		return nil, &sia.Error{Op: op, Message: "GitHub is still preparing it; SIA asks again", RetryAfter: logRetryAfter,
			Err: &redactedError{err}}
	}
	if err != nil {
		return nil, r.fail(err, "%s", op)
	}
	// The URL has a signature that gives anybody access to the log.
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	log, err := r.download(ctx, at, limit)
	if err != nil {
		cancel()
		if errors.Is(err, ErrNoLog) {
			return nil, noLog(op, "it has expired")
		}
		return nil, r.fail(err, "%s", op)
	}
	body := log.ReadCloser
	log.ReadCloser = closingReader{body, func() error { cancel(); return body.Close() }}
	return log, nil
}

func noLog(op, why string) error {
	return &sia.Error{Op: op, Message: "there is no log: " + why, Permanent: true, Err: ErrNoLog}
}

// fetch downloads a file from storage, unauthenticated. The error is [ErrNoLog] if it does not exist.
func (r *Repo) fetch(ctx context.Context, at *url.URL) (*storageFile, error) {
	if at.Scheme != "https" && at.Scheme != r.app.api.Scheme {
		return nil, fmt.Errorf("the file's address is not https but %q", at.Scheme)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("the file's address can't be read") // err contains the signature
	}
	req.Header.Set("Accept-Encoding", "identity") // so that the length is known
	req.Header.Set("User-Agent", "sia")
	resp, err := r.app.retryTransport(0).RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch resp.StatusCode {
	case http.StatusOK:
		return &storageFile{resp.Body, resp.ContentLength}, nil
	case http.StatusNotFound, http.StatusGone, http.StatusForbidden: // 403: the signature has expired
		discard(resp)
		return nil, ErrNoLog
	default:
		discard(resp)
		return nil, fmt.Errorf("storage answered %s", resp.Status)
	}
}

// storageFile is a file from storage.
type storageFile struct {
	io.ReadCloser
	length int64 // -1: unknown
}

// download downloads the end of a log.
func (r *Repo) download(ctx context.Context, at *url.URL, limit int64) (*Log, error) {
	file, err := r.fetch(ctx, at)
	if err != nil {
		return nil, err
	}
	if file.length > maxLogBytes {
		file.Close()
		return nil, ErrNoLog
	}
	if file.length >= 0 {
		return streamTail(file, file.length, limit)
	}
	return bufferTail(file, limit)
}

// streamTail skips all but the last limit bytes of size, up to the beginning of a line.
func streamTail(body io.ReadCloser, size, limit int64) (*Log, error) {
	br := bufio.NewReaderSize(body, 64<<10)
	if size <= limit {
		return &Log{ReadCloser: closingReader{br, body.Close}}, nil
	}
	var n lineCounter
	if _, err := io.CopyN(&n, br, size-limit); err != nil {
		body.Close()
		return nil, fmt.Errorf("skip the beginning: %w", err)
	}
	if !n.atStart {
		for {
			_, err := br.ReadSlice('\n')
			if err == nil || errors.Is(err, io.EOF) {
				n.lines++
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) { // a line longer than the buffer continues
				body.Close()
				return nil, fmt.Errorf("skip the beginning: %w", err)
			}
		}
	}
	return &Log{ReadCloser: closingReader{br, body.Close}, Skipped: n.lines}, nil
}

// lineCounter counts the lines that are written to it.
type lineCounter struct {
	lines   int
	atStart bool // the last byte was a line break
}

func (c *lineCounter) Write(p []byte) (int, error) {
	c.lines += bytes.Count(p, []byte("\n"))
	if len(p) > 0 {
		c.atStart = p[len(p)-1] == '\n'
	}
	return len(p), nil
}

// bufferTail reads a log of unknown length to its end, and keeps at most its last limit bytes.
func bufferTail(body io.ReadCloser, limit int64) (*Log, error) {
	defer body.Close()
	var (
		n    lineCounter
		kept bytes.Buffer
		buf  = make([]byte, 256<<10)
		in   = io.LimitReader(body, maxLogBytes)
	)
	n.atStart = true
	for {
		k, err := in.Read(buf)
		kept.Write(buf[:k])
		if int64(kept.Len()) > 2*limit { // dropping in large steps avoids copying
			_, _ = n.Write(kept.Next(kept.Len() - int(limit)))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if extra := int64(kept.Len()) - limit; extra > 0 {
		_, _ = n.Write(kept.Next(int(extra)))
	}
	if !n.atStart {
		if _, err := kept.ReadBytes('\n'); err == nil || errors.Is(err, io.EOF) {
			n.lines++
		}
	}
	return &Log{ReadCloser: io.NopCloser(&kept), Skipped: n.lines}, nil
}

// closingReader is a reader with its own Close function.
type closingReader struct {
	io.Reader
	end func() error
}

func (c closingReader) Close() error { return c.end() }
