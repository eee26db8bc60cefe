package learn

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/sia-bot/sia/policies/priors"
	"github.com/sia-bot/sia/sia"
)

// imported is what was learned from other installations, as the database has it in force. Decisions note
// by which import they were made and what it said, so that they can be made again whatever is in
// force by then. Safe for concurrent use.
type imported struct {
	mu     sync.Mutex
	id     int64 // of the import; 0: none is in force
	priors *priors.Priors
}

// byImport names what a decision was made by, as the log keeps it.
type byImport struct {
	// Import is the id of the import that was in force; 0: none was.
	Import int64 `json:"import,omitempty"`
	// Spared: the decision was made without it, so that it is measured what it is worth here.
	Spared bool `json:"spared,omitempty"`
}

// catchUp reads the import that is in force, where it is another than the one that is known.
func (i *imported) catchUp(ctx context.Context, s PriorStore) error {
	id, err := s.PriorsInForce(ctx)
	if err != nil || id == i.known() {
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

func (i *imported) known() int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.id
}

// Imported reads an import: it was signed by a key that was trusted then.
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

// of is what a task is decided by; the priors are nil where it is decided without any.
func (i *imported) of(id sia.TaskID) (byImport, *priors.Priors) {
	i.mu.Lock()
	defer i.mu.Unlock()
	by := byImport{Import: i.id, Spared: i.id != 0 && spared(id)}
	if by.Spared {
		return by, nil
	}
	return by, i.priors
}

// sparedOneIn is of how many tasks one is decided without what was imported.
const sparedOneIn = 10

// spared tells whether a task is decided without what was imported: by a hash, so that all decisions of a
// task agree, and whoever asks again has the same answer.
func spared(id sia.TaskID) bool {
	h := sha256.Sum256([]byte("imported/" + id))
	return (int(h[0])<<8|int(h[1]))%sparedOneIn == 0
}
