package tool

import (
	"errors"
	"fmt"
	"strings"
)

// page is the part of a long list that is shown at once.
type page struct {
	skip, most int // entries
	out        strings.Builder
	met, shown int
	full       bool
}

// takes reports whether the next entry, which may have so many bytes, is shown. Where the page is full, nothing is any
// more.
func (p *page) takes(bytes int) bool {
	if p.met++; p.met <= p.skip {
		return false
	}
	p.full = p.full || p.shown == p.most || p.shown > 0 && p.out.Len()+bytes > MaxResult-400
	if !p.full {
		p.shown++
	}
	return !p.full
}

// end says what was left out, and what else to do about that. It returns an error that is no cut of a walk.
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
