package scale

import (
	"context"
	"sync"
	"time"
)

const (
	gone    = 3 * time.Second  // that a process or the database is gone
	outage  = 15 * time.Second // that all servers are
	excused = time.Minute      // after which what was taken away is no excuse: a lease
)

// blow takes something away and brings it back.
type blow struct {
	name string
	long time.Duration
	take func() error
	back func(context.Context) error
}

// spans are the times in which something was away.
type spans struct {
	mu  sync.Mutex
	all []span
}

type span struct {
	name     string
	from, to time.Time
}

func (s *spans) add(name string, from, to time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, span{name, from, to})
}

func (s *spans) names() (names []string) {
	for _, one := range s.all {
		names = append(names, one.name)
	}
	return names
}

// calm reports whether nothing was away at a time, nor shortly before.
func (s *spans) calm(at time.Time) bool {
	for _, one := range s.all {
		if !at.Before(one.from) && at.Before(one.to.Add(excused)) {
			return false
		}
	}
	return true
}

// plan is what is taken away, in order.
func (s *stage) plan() (plan []blow) {
	one := func(p *process) blow {
		return blow{p.name, gone, func() error { p.kill(); return nil }, p.start}
	}
	for _, p := range s.servers {
		plan = append(plan, one(p))
	}
	for _, p := range s.runners {
		plan = append(plan, one(p))
	}
	return append(plan, blow{"PostgreSQL", gone, s.database.Kill,
		func(context.Context) error { return s.database.Start() }},
		blow{"all servers", outage, func() error {
			for _, p := range s.servers {
				p.kill()
			}
			return nil
		}, func(ctx context.Context) error {
			for _, p := range s.servers {
				if err := p.start(ctx); err != nil {
					return err
				}
			}
			return nil
		}})
}

// blows takes everything away once, spread over the time of the noise.
func (s *stage) blows(ctx context.Context) error {
	if !s.Blows {
		return nil
	}
	began, plan := time.Now(), s.plan()
	for i, b := range plan {
		at := began.Add(s.span() * time.Duration(2*i+1) / time.Duration(2*len(plan)))
		if err := wait(ctx, time.Until(at)); err != nil {
			return err
		}
		s.Log.InfoContext(ctx, "killed", "what", b.name)
		from := time.Now()
		if err := b.take(); err != nil {
			return err
		}
		if err := wait(ctx, b.long); err != nil {
			return err
		}
		if err := b.back(ctx); err != nil {
			return err
		}
		s.rough.add(b.name, from, time.Now())
	}
	return nil
}
