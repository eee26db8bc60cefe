package scale

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/scripted"
)

// Config says what is played.
type Config struct {
	Sia           string // the program
	Deliveries    int    // of noise
	Rate          int    // of noise a second
	Repositories  int    // that noise is of, over all installations
	Installations int
	Tasks         int           // labelled issues, spread over the installations and over the time of the noise
	Servers       int           // each with its own folder
	Runners       int           // 0: servers make attempts
	Attempts      int           // at the same time, of each server and runner
	Thinks        time.Duration // of the model, before each answer
	Blows         bool
	Log           *slog.Logger
}

// Result is what was counted.
type Result struct {
	Config Config `json:"-"`

	Took     time.Duration
	Noise    int             // deliveries that were answered 2xx; all of them
	Refused  int             // answers that were none or no 2xx; the same delivery was sent again
	Answered []time.Duration // of the answers 2xx
	Blows    []string        // what was taken away, in order

	Lost    int    // deliveries that were answered 2xx, and are not there or not done
	Failed  int    // that no server could act on
	Failure string // of one of these
	Ages    Ages
	Passed  int             // tasks
	Wrong   []string        // tasks that did not pass, or did something twice
	Taken   []time.Duration // from label to pass
	Minute  int             // the most that one installation created on GitHub in a minute
	Hour    int             // and in an hour
	Calls   int             // of GitHub's API
	Asked   map[string]int  // of these, by method, route and status
	Limited int             // answers of GitHub's that refused for a rate limit
	Memory  []int64         // the most that each server's process had, in bytes
}

// Ages says how old deliveries were when a server had acted on them.
type Ages struct {
	P50, P99, Max time.Duration
	Calm99        time.Duration // of those that came when nothing was taken away, nor a minute after
}

// stage is all that is on one machine.
type stage struct {
	Config
	dir      string
	database *storetest.Server
	db       *sql.DB
	sim      *ghsim.Server
	app      ghsim.App
	model    *scripted.Server
	front    *front
	servers  []*process
	runners  []*process
	writes   *writes
	rough    spans

	installed []int64 // the installation of each organization

	mu     sync.Mutex
	issues []issue
}

// Play plays it all, and waits until all tasks have ended and every delivery is done.
func Play(ctx context.Context, c Config) (r Result, err error) {
	s := &stage{Config: c, writes: newWrites()}
	if s.dir, err = os.MkdirTemp("", "sia-scale-"); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.build(ctx); err != nil {
		return r, err
	}
	began := time.Now()
	load := newLoad(s.front.url()+"/webhook", s.installed, c)
	if err := together(ctx, load.send, s.ask, s.blows); err != nil {
		return r, errors.Join(err, s.said())
	}
	c.Log.InfoContext(ctx, "all was sent; waiting for what is under way")
	if err := s.settle(ctx); err != nil {
		return r, errors.Join(err, s.said())
	}
	r = Result{Config: c, Took: time.Since(began), Noise: load.accepted, Refused: load.refused, Answered: load.took,
		Blows: s.rough.names()}
	return r, s.count(ctx, &r)
}

// together runs what goes on at the same time, and returns the first error; the others are told to end then.
func together(ctx context.Context, all ...func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, do := range all {
		wg.Go(func() {
			if err := do(ctx); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// build starts everything.
func (s *stage) build(ctx context.Context) (err error) {
	pg := filepath.Join(s.dir, "pg")
	if err := os.Mkdir(pg, 0o755); err != nil {
		return err
	}
	if err := os.Chmod(s.dir, 0o711); err != nil { // PostgreSQL's user goes through it
		return err
	}
	if s.database, err = storetest.StartServer(pg, "fsync=on", "full_page_writes=on"); err != nil {
		return err
	}
	url, err := s.database.Create("scale")
	if err != nil {
		return err
	}
	if s.db, err = s.database.Open("scale"); err != nil {
		return err
	}
	if err := s.world(); err != nil {
		return err
	}
	if s.front, err = newFront(); err != nil {
		return err
	}
	if err := s.serve(ctx, url); err != nil {
		return err
	}
	if _, err := s.db.ExecContext(ctx, noteAges); err != nil {
		return fmt.Errorf("note ages: %w", err)
	}
	return s.install()
}

// close ends everything and deletes it.
func (s *stage) close() error {
	var errs []error
	for _, p := range append(s.runners, s.servers...) {
		p.kill()
	}
	for _, c := range []io.Closer{closer(s.front != nil, s.front), closer(s.sim != nil, s.sim),
		closer(s.model != nil, s.model), closer(s.db != nil, s.db)} {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	if s.database != nil {
		s.database.Stop()
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

func closer(there bool, c io.Closer) io.Closer {
	if !there {
		return nil
	}
	return c
}

// said is the end of what each process logged, as an error.
func (s *stage) said() error {
	var errs []error
	for _, p := range append(s.servers, s.runners...) {
		errs = append(errs, fmt.Errorf("%s said last:\n%s", p.name, p.tail()))
	}
	return errors.Join(errs...)
}
