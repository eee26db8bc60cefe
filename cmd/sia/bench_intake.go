package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/benchtask"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/stage"
)

// The repository of the benchmarks.
const (
	benchOwner = "ada"
	benchName  = "bench"
)

// benchStage returns a stage with the small benchmark repository.
func benchStage(ctx context.Context) (*stage.Stage, error) {
	return stage.Start(ctx, stage.Config{
		Owner: benchOwner, Name: benchName, Spec: ghsim.RepoSpec{Files: benchtask.Files()}, Script: benchtask.Model,
		Logger: silentLogger(), Forward: cli.ForwardCommand(), Stdlib: cli.StdlibDir(),
	})
}

// deliveryLoad sends signed check_run deliveries of 25 kB over loopback.
type deliveryLoad struct {
	url    string
	client *http.Client
	body   []byte
	sign   string
}

func newDeliveryLoad(url, secret string) *deliveryLoad {
	body := fmt.Appendf(nil, `{"action":"completed","installation":{"id":1},`+
		`"sender":{"login":"ada","id":1,"type":"User"},`+
		`"repository":{"id":1,"name":"bench","full_name":"ada/bench","owner":{"login":"ada"}},`+
		`"check_run":{"id":1,"name":"answer","head_sha":"%040d","output":{"text":"%024500d"}}}`, 0, 0)
	return &deliveryLoad{
		url: url, body: body, sign: benchtask.Sign(secret, body),
		client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
}

// sendAll sends n deliveries, up to atOnce concurrently, each when pace ticks. It returns how long each took.
func (d *deliveryLoad) sendAll(
	ctx context.Context, prefix string, n, atOnce int, pace <-chan time.Time,
) ([]time.Duration, error) {
	took := make([]time.Duration, n)
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i := range n {
		if pace != nil {
			<-pace
		}
		g.Go(func() error {
			began := time.Now()
			err := benchtask.Send(ctx, d.client, d.url, "check_run", fmt.Sprintf("%s-%d", prefix, i), d.sign, d.body)
			took[i] = time.Since(began)
			return err
		})
	}
	return took, g.Wait()
}

// intake measures how fast deliveries are acknowledged, at a steady rate and in a burst.
func (c *benchMachineCmd) intake(e *cli.Env) (figures []cli.Figure, err error) {
	s, err := benchStage(e.Ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	d := newDeliveryLoad(s.Webhook(), s.Config.GitHub.WebhookSecret)
	fmt.Fprintf(e.Err, "steady load: %d deliveries a second for %d s…\n", c.Rate, c.Seconds)
	tick := time.NewTicker(time.Second / time.Duration(c.Rate))
	steady, err := d.sendAll(e.Ctx, "steady", c.Rate*c.Seconds, 16, tick.C)
	tick.Stop()
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(e.Err, "burst: %d deliveries…\n", c.Deliveries)
	began := time.Now()
	burst, err := d.sendAll(e.Ctx, "burst", c.Deliveries, 64, nil)
	if err != nil {
		return nil, err
	}
	took := time.Since(began).Seconds()
	note := fmt.Sprintf("%d kB bodies, SQLite, load and server on one machine", len(d.body)/1000)
	return []cli.Figure{
		cli.Measured("deliveries acknowledged, p50", cli.Quantile(steady, .5), "ms",
			"", fmt.Sprintf("at %d/s; %s", c.Rate, note)),
		cli.Measured("deliveries acknowledged, p99", cli.Quantile(steady, .99), "ms", "≤ 10", ""),
		cli.Measured("deliveries acknowledged in a burst", float64(len(burst))/took, "1/s", "",
			fmt.Sprintf("%d deliveries, each acknowledged after its row and job were committed", len(burst))),
	}, nil
}
