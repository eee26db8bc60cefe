package store

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
)

// Effects wait in a lane for each repository, which is a queue of River's, so that an installation with many effects
// does not delay the others. A free worker takes an effect of the installation with the fewest workers, and of its
// repository with the fewest workers. Deliveries wait in a lane for each installation. See
// docs/adr/0034-fair-shares.md.

// laneSeparator separates the parts of a lane's name: effects_3_7, and effects_3_7_w for effects that create content on
// GitHub.
const laneSeparator = "_"

// lane is a queue for effects of one repository.
type lane struct {
	queue        string // name of the queue
	installation int64
	repo         int64
}

// laneOf parses a lane's name; jobs of a version without lanes are in a lane without installation.
func laneOf(queue string) lane {
	common, _, _ := strings.Cut(queue, serverSeparator)
	l := lane{queue: queue}
	part := strings.Split(common, laneSeparator)
	if len(part) >= 3 {
		l.installation, _ = strconv.ParseInt(part[1], 10, 64)
		l.repo, _ = strconv.ParseInt(part[2], 10, 64)
	}
	return l
}

// laneName returns the name of a repository's lane in a queue.
func laneName(queue string, installation, repo int64, creates bool) string {
	name := fmt.Sprint(queue, laneSeparator, installation, laneSeparator, repo)
	if creates && queue == queueEffects {
		name += laneSeparator + "w"
	}
	return name
}

// shares tracks the running jobs of a queue in this engine, by installation and repository. It is safe for
// concurrent use.
type shares struct {
	most int // maximum for one installation

	mu      sync.Mutex
	jobs    map[int64]lane   // running jobs, by River's ids
	running map[int64]int    // number of running jobs, by installation
	repos   map[int64]int    // number of running jobs, by repository
	served  map[int64]uint64 // by installation: its last turn
	turn    uint64           // number of turns
	from    string           // the lane after which the next fetch begins
	capped  bool             // an installation with the maximum of running jobs was passed over since a job ended
}

func newShares(most int) *shares {
	return &shares{most: most, jobs: map[int64]lane{}, running: map[int64]int{}, repos: map[int64]int{},
		served: map[int64]uint64{}}
}

// assign assigns each of n free workers to a lane in which effects wait: one after the other to the installation with
// the fewest workers and, among equals, to the one with the oldest last turn.
func (s *shares) assign(lanes []lane, n int) (workers map[string]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	workers = map[string]int{}
	installations, repos := maps.Clone(s.running), maps.Clone(s.repos)
	for range n {
		var next *lane
		for i := range lanes {
			l := &lanes[i]
			if installations[l.installation] >= s.most {
				s.capped = true
				continue
			}
			if next == nil || cmp.Or(cmp.Compare(installations[l.installation], installations[next.installation]),
				cmp.Compare(s.served[l.installation], s.served[next.installation]),
				cmp.Compare(repos[l.repo], repos[next.repo]), cmp.Compare(workers[l.queue], workers[next.queue])) < 0 {
				next = l
			}
		}
		if next == nil {
			break
		}
		workers[next.queue]++
		installations[next.installation]++
		repos[next.repo]++
		s.turn++
		s.served[next.installation] = s.turn
	}
	return workers
}

// cursor returns the lane after which the next fetch begins.
func (s *shares) cursor() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from
}

// setCursor records the lanes of a fetch, so that the next one continues after them.
func (s *shares) setCursor(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from = ""
	if len(names) == maxLanes {
		s.from = names[len(names)-1]
	}
}

// begin records a fetched job.
func (s *shares) begin(job int64, l lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[job] = l
	s.running[l.installation]++
	s.repos[l.repo]++
}

// lane returns the lane of a running job.
func (s *shares) lane(job int64) lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs[job]
}

// end records the end of a job. It reports whether the queue should be looked at: jobs were passed over because their
// installation had its maximum, and River itself looks only if all workers were busy.
func (s *shares) end(job int64) (look bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.jobs[job]
	if !ok {
		return false
	}
	delete(s.jobs, job)
	if s.running[l.installation]--; s.running[l.installation] == 0 {
		delete(s.running, l.installation)
	}
	if s.repos[l.repo]--; s.repos[l.repo] == 0 {
		delete(s.repos, l.repo)
	}
	if len(s.served) > maxServed {
		clear(s.served)
	}
	look, s.capped = s.capped, false
	return look
}

// extraEffectWorkers is the number of workers for effects beyond the maximum of one installation: while one
// installation is busy, the effects of others begin without delay.
const extraEffectWorkers = 2

// maxServed is the maximum number of installations in shares.served.
const maxServed = 10_000
