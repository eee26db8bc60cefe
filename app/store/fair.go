package store

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
)

// Effects wait in a lane for each repository, which is a queue of River's, so that an installation with much to do does
// not keep the others waiting. A worker that is free goes to the installation for which the fewest are at work, and to
// the repository of it for which the fewest are. See docs/adr/0034-fair-shares.md.

// laneMark comes between the parts of a lane's name: effects_3_7, and effects_3_7_w for what creates something on
// GitHub.
const laneMark = "_"

// lane is where effects of one repository wait.
type lane struct {
	queue        string // the name
	installation int64
	repo         int64
}

// laneOf reads a lane's name; what a version without lanes wrote is in the lane of no installation.
func laneOf(queue string) lane {
	common, _, _ := strings.Cut(queue, serverMark)
	l := lane{queue: queue}
	part := strings.Split(common, laneMark)
	if len(part) >= 3 {
		l.installation, _ = strconv.ParseInt(part[1], 10, 64)
		l.repo, _ = strconv.ParseInt(part[2], 10, 64)
	}
	return l
}

// laneName is the lane of a repository, in a queue.
func laneName(queue string, installation, repo int64, creates bool) string {
	name := fmt.Sprint(queue, laneMark, installation, laneMark, repo)
	if creates && queue == queueEffects {
		name += laneMark + "w"
	}
	return name
}

// shares knows which effects of a queue this engine carries out, and for whom. It is safe for concurrent use.
type shares struct {
	most int // for one installation

	mu      sync.Mutex
	jobs    map[int64]lane   // by River's numbers, while they are under way
	running map[int64]int    // by installation
	repos   map[int64]int    // by repository
	served  map[int64]uint64 // by installation: its last turn
	turn    uint64           // how many there were
	from    string           // the lane after which the next fetch begins
}

func newShares(most int) *shares {
	return &shares{most: most, jobs: map[int64]lane{}, running: map[int64]int{}, repos: map[int64]int{},
		served: map[int64]uint64{}}
}

// divide gives each of n workers that are free to a lane in which effects wait: one after the other to the installation
// with the fewest at work, and then to the one that had no turn for longest.
func (s *shares) divide(lanes []lane, n int) (workers map[string]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	workers = map[string]int{}
	installations, repos := maps.Clone(s.running), maps.Clone(s.repos)
	for range n {
		var next *lane
		for i := range lanes {
			l := &lanes[i]
			if installations[l.installation] >= s.most {
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

// after is where the lanes begin that the next fetch looks at.
func (s *shares) after() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from
}

// goOn notes which lanes a fetch looked at.
func (s *shares) goOn(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from = ""
	if len(names) == mostLanes {
		s.from = names[len(names)-1]
	}
}

// begin notes a job that was fetched.
func (s *shares) begin(job int64, l lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[job] = l
	s.running[l.installation]++
	s.repos[l.repo]++
}

// end notes that a job has ended.
func (s *shares) end(job int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.jobs[job]
	if !ok {
		return
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
}

// effectsForOthers are the workers for effects that no installation has alone: beside one with much to do, another's
// effect begins at once.
const effectsForOthers = 2

// maxServed bounds of how many installations the last turn is remembered.
const maxServed = 10_000
