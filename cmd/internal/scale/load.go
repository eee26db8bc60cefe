package scale

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	secret  = "the secret of the webhook"
	senders = 32          // connections of noise
	again   = time.Second // until a delivery is sent again
	filler  = 8000        // bytes of each that say nothing
	noiseID = "noise-"    // begins the ids of noise
)

// kinds are the deliveries that noise consists of, in turn: what repositories send most.
var kinds = []struct{ event, body string }{
	{"check_run", `"action":"completed","check_run":{"id":%d,"name":"test","head_sha":"%s","status":"completed",` +
		`"conclusion":"success","app":{"id":15368,"slug":"github-actions"},"pull_requests":[],"output":{"text":"%s"}}`},
	{"check_suite", `"action":"completed","check_suite":{"id":%d,"head_sha":"%s","head_branch":"main",` +
		`"status":"completed","conclusion":"success","pull_requests":[],"head_commit":{"message":"%s"}}`},
	{"push", `"pusher":{"name":"%d"},"ref":"refs/heads/topic","after":"%s","commits":[{"message":"%s"}]`},
	{"pull_request", `"action":"synchronize","number":7,"pull_request":{"id":%d,"number":7,"state":"open",` +
		`"head":{"ref":"topic","sha":"%s"},"base":{"ref":"main"},"user":{"login":"dev","id":3,"type":"User"},"body":"%s"}`},
	{"issue_comment", `"action":"created","issue":{"id":9,"number":9,"state":"open","title":"A bug","labels":[],` +
		`"user":{"login":"dev","id":3,"type":"User"}},"comment":{"id":%d,"body":"%s %s",` +
		`"user":{"login":"dev","id":3,"type":"User"}}`},
}

// load sends noise.
type load struct {
	Config
	to        string
	installed []int64 // the installation of each organization
	client    *http.Client

	mu       sync.Mutex
	accepted int
	refused  int
	took     []time.Duration
}

func newLoad(to string, installed []int64, c Config) *load {
	return &load{Config: c, to: to, installed: installed,
		client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: senders}}}
}

// delivery is the n-th.
func (l *load) delivery(n int) (event string, body []byte) {
	kind, repo := kinds[n%len(kinds)], n%l.Repositories
	org := repo % l.Installations
	return kind.event, fmt.Appendf(nil, `{"installation":{"id":%d},"sender":{"login":"dev","id":3,"type":"User"},`+
		`"repository":{"id":%d,"name":"quiet-%d","full_name":"%s/quiet-%d","owner":{"login":"%[4]s"}},%[6]s}`,
		l.installed[org], 1_000_000+repo, repo, orgName(org), repo,
		fmt.Sprintf(kind.body, n, fmt.Sprintf("%040x", n), strings.Repeat("x", filler)))
}

// send sends all of it, at the rate, each delivery until it is accepted.
func (l *load) send(ctx context.Context) error {
	next := make(chan int)
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() {
			for n := range next {
				l.until(ctx, n)
			}
		})
	}
	defer wg.Wait()
	defer close(next)
	began := time.Now()
	for n := range l.Deliveries {
		if err := wait(ctx, time.Until(began.Add(time.Duration(n)*time.Second/time.Duration(l.Rate)))); err != nil {
			return err
		}
		select {
		case next <- n:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// until sends one until it is accepted.
func (l *load) until(ctx context.Context, n int) {
	event, body := l.delivery(n)
	for {
		began := time.Now()
		ok := l.once(ctx, n, event, body)
		l.mu.Lock()
		if ok {
			l.accepted++
			l.took = append(l.took, time.Since(began))
		} else {
			l.refused++
		}
		l.mu.Unlock()
		if ok || wait(ctx, again) != nil {
			return
		}
	}
}

func (l *load) once(ctx context.Context, n int, event string, body []byte) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.to, bytes.NewReader(body))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", event)
	req.Header.Set("X-GitHub-Delivery", fmt.Sprint(noiseID, n))
	req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := l.client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode/100 == 2
}

// wait waits for a time, or for the context's end, and returns its error.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
