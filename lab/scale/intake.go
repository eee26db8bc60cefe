package scale

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// IntakeConfig configures the measurement of servers' intake. All counts are at least 1.
type IntakeConfig struct {
	Program string // sia
	Probot  string // folder with app.js and the package probot
	Rounds  int    // each measures every server once
	Burst   int    // deliveries sent as fast as they are answered
	Rate    int    // deliveries a second after that, while a server processes the burst's backlog
	Seconds int    // duration of that
	Log     *slog.Logger
}

// Answered is one server's result.
type Answered struct {
	Server    string
	PerSecond []float64       // deliveries of each burst
	Steady    []time.Duration // times until the answers at the rate, of all rounds
	Refused   int             // answers other than 2xx, or none; the same delivery was sent again
	Memory    int64           // the process's maximum, in bytes
}

// receiver is a server that receives deliveries.
type receiver struct {
	*process
	Answered
	url     string // of its webhook
	metrics string // "" if it has no queue
}

// Intake sends the same deliveries to a Probot app that does nothing, and to sia on each database, which saves each
// before it answers and then processes it. Servers take turns, and none waits on another's work.
func Intake(ctx context.Context, c IntakeConfig) (all []Answered, err error) {
	s := &stage{Config: Config{Program: c.Program, Installations: 1, Repositories: 1000, Attempts: 1, Log: c.Log},
		requests: newRequests()}
	if s.dir, err = os.MkdirTemp("", "sia-intake-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	database, err := s.postgres()
	if err != nil {
		return nil, err
	}
	if err := s.world(); err != nil {
		return nil, err
	}
	id, err := s.sim.Install(s.app.ID, orgName(0))
	if err != nil {
		return nil, err
	}
	s.installed = []int64{id}
	receivers, err := s.receivers(ctx, c.Probot, database)
	if err != nil {
		return nil, err
	}
	sent := 0
	for round := range c.Rounds {
		for _, r := range receivers {
			c.Log.InfoContext(ctx, "round", "number", round+1, "server", r.Server)
			burst := s.noiseTo(r.url, sent, c.Burst, 0)
			began := time.Now()
			if err := burst.send(ctx); err != nil {
				return nil, err
			}
			r.PerSecond = append(r.PerSecond, float64(c.Burst)/time.Since(began).Seconds())
			steady := s.noiseTo(r.url, sent+c.Burst, c.Rate*c.Seconds, c.Rate)
			if err := steady.send(ctx); err != nil {
				return nil, err
			}
			r.Steady = append(r.Steady, steady.answers...)
			r.Refused += burst.refused + steady.refused
			if err := r.settle(ctx); err != nil {
				return nil, err
			}
		}
		sent += c.Burst + c.Rate*c.Seconds
	}
	for _, r := range receivers {
		r.Memory = r.most()
		all = append(all, r.Answered)
	}
	return all, nil
}

// noiseTo sends n deliveries at a rate, or as fast as they are answered; first is the number of the first.
func (s *stage) noiseTo(url string, first, n, rate int) *noise {
	c := s.Config
	c.Deliveries, c.Rate = n, rate
	l := newNoise(url, s.installed, c)
	l.first = first
	return l
}

// receivers starts the servers.
func (s *stage) receivers(ctx context.Context, probot, database string) (all []*receiver, err error) {
	listen, err := freeAddress()
	if err != nil {
		return nil, err
	}
	host, port, _ := strings.Cut(listen, ":")
	all = append(all, &receiver{Answered: Answered{Server: "Probot"}, url: "http://" + listen + "/webhook",
		process: &process{name: "Probot", program: "node", args: []string{filepath.Join(probot, "app.js")}, ready: "serving",
			env: []string{"NODE_ENV=production", "HOST=" + host, "PORT=" + port, "WEBHOOK_PATH=/webhook", "LOG_LEVEL=warn",
				fmt.Sprint("APP_ID=", s.app.ID), "PRIVATE_KEY=" + string(s.app.PrivateKeyPEM), "WEBHOOK_SECRET=" + secret}}})
	for _, on := range []struct{ name, database string }{
		{"SIA on SQLite", "sqlite:" + filepath.Join(s.dir, "sia.db")}, {"SIA on PostgreSQL", database},
	} {
		p, listen, private, err := s.server(len(all), on.database, "here")
		if err != nil {
			return nil, err
		}
		all = append(all, &receiver{Answered: Answered{Server: on.name}, process: p,
			url: "http://" + listen + "/webhook", metrics: "http://" + private + "/metrics"})
	}
	for _, r := range all {
		s.servers = append(s.servers, r.process)
		if err := r.start(ctx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// settle waits until the server has processed everything that it saved.
func (r *receiver) settle(ctx context.Context) error {
	if r.metrics == "" {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%s was not done after %s", r.Server, patience))
	defer cancel()
	for {
		left, err := r.waiting(ctx)
		if err == nil && left == 0 {
			return nil
		}
		if wait(ctx, look) != nil {
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// waiting returns the number of waiting deliveries, by the server's own metrics.
func (r *receiver) waiting(ctx context.Context) (n float64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.metrics, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	for in := bufio.NewScanner(resp.Body); in.Scan(); {
		if value, ok := strings.CutPrefix(in.Text(), `sia_waiting{kind="delivery"} `); ok {
			_, err := fmt.Sscan(value, &n)
			return n, err
		}
	}
	return 0, errors.New("the metrics don't say how many deliveries wait")
}
