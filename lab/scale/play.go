package scale

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/scripted"
)

// Config configures a play. All counts except Runners are at least 1.
type Config struct {
	Program       string // sia
	Deliveries    int    // of noise
	Rate          int    // of noise a second
	Repositories  int    // of the noise, over all installations
	Installations int
	Tasks         int           // labelled issues, spread over the installations and over the time of the noise
	Loud          int           // labelled issues of one more installation, all at the beginning
	Servers       int           // each with its own folder
	Runners       int           // 0: servers make attempts
	Attempts      int           // at the same time, of each runner or server
	ModelDelay    time.Duration // before each answer of the model
	Kill          bool          // each process, the database and all servers, once
	Pooler        string        // PgBouncer in front of the database; "": none
	Clocks        time.Duration // by which the processes' clocks are alternately ahead and behind; whole seconds
	Log           *slog.Logger
}

// Result has the counts of a play.
type Result struct {
	Took     time.Duration
	Accepted int             // deliveries of noise answered with 202; all of them
	Refused  int             // other answers, or none; the same delivery was sent again
	Answers  []time.Duration // times until the answers 202
	Killed   []string        // interruptions, in order
	Ended    []string        // processes that ended by themselves and were started again, with their last log line

	Lost      int             // noise answered with 202 and missing or unprocessed
	Failed    int             // deliveries that no server could process
	Failure   string          // of one of these
	Ages      []time.Duration // of all processed deliveries
	CalmAges  []time.Duration // of those that arrived when nothing was down, nor in the minute before
	Passed    int             // tasks
	Wrong     []string        // tasks that did not pass, or did something twice
	TaskTimes []time.Duration // from label to pass
	LoudTimes []time.Duration // the same of the loud installation

	PerMinute   int            // maximum that one installation created on GitHub in a minute
	PerHour     int            // the same in an hour
	Requests    int            // to GitHub's API
	Routes      map[string]int // of these, by method, route and status
	RateLimited int            // of these, answered 403 or 429, as GitHub does beyond a limit
	Memory      int64          // maximum of a server's process, in bytes
}

// stage has everything that runs on the machine.
type stage struct {
	Config
	dir       string
	database  *storetest.Server
	db        *sql.DB
	sim       *ghsim.Server
	app       ghsim.App
	installed []int64 // the installation of each organization
	model     *scripted.Server
	balancer  *balancer
	poolers   []*process
	servers   []*process
	runners   []*process
	requests  *requests
	away      interruptions
	issues    []issue
}

// Play runs the play, and waits until all tasks have passed and every delivery is processed.
func Play(ctx context.Context, c Config) (r Result, err error) {
	s := &stage{Config: c, requests: newRequests()}
	if s.dir, err = os.MkdirTemp("", "sia-scale-"); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.build(ctx); err != nil {
		return r, err
	}
	began := time.Now()
	noise := newNoise(s.balancer.URL+"/webhook", s.installed, c)
	all, together := errgroup.WithContext(ctx)
	for _, do := range []func(context.Context) error{noise.send, s.ask, s.interrupt} {
		all.Go(func() error { return do(together) })
	}
	if err := all.Wait(); err != nil {
		return r, errors.Join(err, s.lastLogs())
	}
	c.Log.InfoContext(ctx, "all was sent; waiting for what is under way")
	if err := s.settle(ctx); err != nil {
		return r, errors.Join(err, s.lastLogs())
	}
	r = Result{Took: time.Since(began), Accepted: noise.accepted, Refused: noise.refused, Answers: noise.answers,
		Killed: s.away.names()}
	return r, s.count(ctx, &r)
}

// build starts everything.
func (s *stage) build(ctx context.Context) error {
	url, err := s.postgres()
	if err != nil {
		return err
	}
	if s.db, err = s.database.Open("scale"); err != nil {
		return err
	}
	if err := s.world(); err != nil {
		return err
	}
	if url, err = s.pooler(ctx, url); err != nil {
		return err
	}
	if s.Clocks != 0 {
		if s.Program, err = s.withClock(ctx); err != nil {
			return err
		}
	}
	s.balancer = newBalancer()
	if err := s.serve(ctx, url); err != nil {
		return err
	}
	if _, err := s.db.ExecContext(ctx, noteAges); err != nil {
		return fmt.Errorf("note ages: %w", err)
	}
	return s.install()
}

// postgres starts PostgreSQL and returns the URL of a new database.
func (s *stage) postgres() (url string, err error) {
	pg := filepath.Join(s.dir, "pg")
	if err := os.Mkdir(pg, 0o755); err != nil {
		return "", err
	}
	if err := os.Chmod(s.dir, 0o711); err != nil { // PostgreSQL's user must enter it
		return "", err
	}
	if s.database, err = storetest.StartServer(pg, postgresDefaults...); err != nil {
		return "", err
	}
	return s.database.Create("scale")
}

// processes returns the servers, then the runners and the pooler.
func (s *stage) processes() []*process { return slices.Concat(s.servers, s.runners, s.poolers) }

// close ends all processes and deletes the folder.
func (s *stage) close() error {
	for _, p := range s.processes() {
		p.kill()
	}
	var errs []error
	if s.balancer != nil {
		s.balancer.close()
	}
	if s.sim != nil {
		errs = append(errs, s.sim.Close())
	}
	if s.model != nil {
		errs = append(errs, s.model.Close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.database != nil {
		s.database.Stop()
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

// lastLogs returns the end of each process's log, as an error.
func (s *stage) lastLogs() error {
	var errs []error
	for _, p := range s.processes() {
		errs = append(errs, fmt.Errorf("the end of the log of %s:\n%s", p.name, p.tail()))
	}
	return errors.Join(errs...)
}

// postgresDefaults undoes what storetest sets for tests: durability, and memory and log of the size that a server has
// without any settings (https://www.postgresql.org/docs/current/runtime-config.html).
var postgresDefaults = []string{"fsync=on", "full_page_writes=on", "shared_buffers=128MB", "max_wal_size=1GB"}
