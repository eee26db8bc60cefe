package learn

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/sia-bot/sia/policies/priors"
	"github.com/sia-bot/sia/sia"
)

// importCache caches the priors in force that were imported from other installations. Decisions record their import and
// its values, so that they can be repeated whatever is in force later. It is safe for concurrent use.
type importCache struct {
	mu     sync.Mutex
	id     int64 // of the import; 0: none is in force
	priors *priors.Priors
}

// byImport identifies the import used by a decision, as stored in the log.
type byImport struct {
	// Import is the id of the import in force; 0: none.
	Import int64 `json:"import,omitempty"`
	// Spared reports that the decision was made without the import, to measure its benefit here.
	Spared bool `json:"spared,omitempty"`
}

// catchUp reads the import in force if it differs from the cached one.
func (i *importCache) catchUp(ctx context.Context, s PriorStore) error {
	id, err := s.PriorsInForce(ctx)
	if err != nil || id == i.current() {
		return err
	}
	var p *priors.Priors
	if id != 0 {
		if p, err = Imported(ctx, s, id); err != nil {
			return err
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.id, i.priors = id, p
	return nil
}

func (i *importCache) current() int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.id
}

// Imported reads an import, which was signed by a key that was trusted at that time.
func Imported(ctx context.Context, s PriorStore, id int64) (*priors.Priors, error) {
	v, err := s.ImportedPriors(ctx, id)
	if err != nil {
		return nil, err
	}
	p, _, err := priors.ReadPriors(v.Signed, []string{v.Key})
	if err != nil {
		return nil, fmt.Errorf("import %d from %s can't be used; `sia priors remove` ends that it is in force: %w", id,
			v.Source, err)
	}
	return p, nil
}

// of returns the import and priors for a task; the priors are nil if the task is decided without them.
func (i *importCache) of(id sia.TaskID) (byImport, *priors.Priors) {
	i.mu.Lock()
	defer i.mu.Unlock()
	by := byImport{Import: i.id, Spared: i.id != 0 && isSpared(id)}
	if by.Spared {
		return by, nil
	}
	return by, i.priors
}

// sparedOneIn is the ratio of all tasks to those decided without imported priors.
const sparedOneIn = 10

// isSpared reports whether a task is decided without imported priors. It uses a hash, so that all decisions of a task
// agree and are repeatable.
func isSpared(id sia.TaskID) bool {
	h := sha256.Sum256([]byte("imported/" + id))
	return (int(h[0])<<8|int(h[1]))%sparedOneIn == 0
}
