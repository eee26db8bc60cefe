package scale

import (
	"context"
	"sync"
	"time"
)

const (
	processAway = 3 * time.Second  // downtime of a process or the database
	outage      = 15 * time.Second // downtime of all servers
	aftermath   = time.Minute      // maximum delay of a delivery afterwards: a lease
)

// interruption stops something and starts it again.
type interruption struct {
	name    string
	away    time.Duration
	kill    func() error
	restart func(context.Context) error
}

// period is a time in which something was down.
type period struct {
	name     string
	from, to time.Time
}

// interruptions are the periods so far. It is safe for concurrent use.
type interruptions struct {
	mu  sync.Mutex
	all []period
}

func (s *interruptions) add(p period) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, p)
}

func (s *interruptions) names() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.all {
		names = append(names, p.name)
	}
	return names
}

// calm reports whether nothing was down at a time, nor shortly before.
func (s *interruptions) calm(at time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.all {
		if !at.Before(p.from) && at.Before(p.to.Add(aftermath)) {
			return false
		}
	}
	return true
}

// plan returns the interruptions, in order.
func (s *stage) plan() (plan []interruption) {
	of := func(name string, away time.Duration, all ...*process) interruption {
		return interruption{name, away, func() error {
			for _, p := range all {
				p.kill()
			}
			return nil
		}, func(ctx context.Context) error {
			for _, p := range all {
				if err := p.start(ctx); err != nil {
					return err
				}
			}
			return nil
		}}
	}
	for _, p := range s.processes() {
		plan = append(plan, of(p.name, processAway, p))
	}
	return append(plan, interruption{"PostgreSQL", processAway, s.database.Kill,
		func(context.Context) error { return s.database.Start() }}, of("all servers", outage, s.servers...))
}

// interrupt carries out every interruption once, spread over the time of the noise.
func (s *stage) interrupt(ctx context.Context) error {
	if !s.Kill {
		return nil
	}
	began, plan := time.Now(), s.plan()
	for i, one := range plan {
		at := began.Add(s.span() * time.Duration(2*i+1) / time.Duration(2*len(plan)))
		if err := wait(ctx, time.Until(at)); err != nil {
			return err
		}
		s.Log.InfoContext(ctx, "killed", "what", one.name)
		from := time.Now()
		if err := one.kill(); err != nil {
			return err
		}
		if err := wait(ctx, one.away); err != nil {
			return err
		}
		if err := one.restart(ctx); err != nil {
			return err
		}
		s.away.add(period{one.name, from, time.Now()})
	}
	return nil
}
