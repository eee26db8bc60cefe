package tool

import (
	"errors"
	"fmt"
	"strings"
)

// page is one page of a long list.
type page struct {
	skip, limit int // entries
	out         strings.Builder
	seen, shown int
	full        bool
}

// next counts an entry of at most the given size and reports whether it belongs on the page. Once the page is full, it
// returns false.
func (p *page) next(bytes int) bool {
	if p.seen++; p.seen <= p.skip {
		return false
	}
	p.full = p.full || p.shown == p.limit || p.shown > 0 && p.out.Len()+bytes > MaxResult-400
	if !p.full {
		p.shown++
	}
	return !p.full
}

// end adds a note about what was left out and how to see it. It returns err unless that ended the walk early.
func (p *page) end(entries, instead string, err error) error {
	switch {
	case err != nil && !errors.Is(err, errCut):
		return err
	case p.full:
		fmt.Fprintf(&p.out, "[more %s; go on with skip %d%s]\n", entries, p.skip+p.shown, instead)
	case err != nil:
		fmt.Fprintf(&p.out, "[stopped: %v]\n", err)
	case p.shown == 0 && p.skip > 0:
		fmt.Fprintf(&p.out, "[no more %s]\n", entries)
	}
	return nil
}
