package scale

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sia-bot/sia/lab/benchtask"
)

const (
	secret  = "the secret of the webhook"
	senders = 32          // connections of noise
	again   = time.Second // until a delivery is sent again
	filler  = 8000        // bytes of padding in each
	noiseID = "noise-"    // begins the ids of noise
)

// kinds are the deliveries of noise, in turn: the most frequent ones of repositories.
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

// noise sends deliveries without work for SIA.
type noise struct {
	Config
	to        string
	installed []int64 // the installation of each organization
	first     int     // the number of the first
	client    *http.Client

	mu       sync.Mutex
	accepted int
	refused  int
	answers  []time.Duration
}

func newNoise(to string, installed []int64, c Config) *noise {
	return &noise{Config: c, to: to, installed: installed,
		client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: senders}}}
}

// delivery returns the n-th delivery.
func (l *noise) delivery(n int) (event string, body []byte) {
	kind, repo := kinds[n%len(kinds)], n%l.Repositories
	org := repo % l.Installations
	return kind.event, fmt.Appendf(nil, `{"installation":{"id":%d},"sender":{"login":"dev","id":3,"type":"User"},`+
		`"repository":{"id":%d,"name":"quiet-%d","full_name":"%s/quiet-%d","owner":{"login":"%[4]s"}},%[6]s}`,
		l.installed[org], 1_000_000+repo, repo, orgName(org), repo,
		fmt.Sprintf(kind.body, n, fmt.Sprintf("%040x", n), strings.Repeat("x", filler)))
}

// send sends all of it, at the rate or as fast as it is answered, each delivery until it is accepted.
func (l *noise) send(ctx context.Context) error {
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
		if l.Rate > 0 {
			if err := wait(ctx, time.Until(began.Add(time.Duration(n)*time.Second/time.Duration(l.Rate)))); err != nil {
				return err
			}
		}
		select {
		case next <- l.first + n:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// until sends one until it is accepted.
func (l *noise) until(ctx context.Context, n int) {
	event, body := l.delivery(n)
	signature := benchtask.Sign(secret, body)
	for {
		began := time.Now()
		ok := benchtask.Send(ctx, l.client, l.to, event, fmt.Sprint(noiseID, n), signature, body) == nil
		l.mu.Lock()
		if ok {
			l.accepted++
			l.answers = append(l.answers, time.Since(began))
		} else {
			l.refused++
		}
		l.mu.Unlock()
		if ok || wait(ctx, again) != nil {
			return
		}
	}
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
