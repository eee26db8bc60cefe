package failure

import (
	"bufio"
	"slices"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// xmlChars replaces control characters, which XML does not have, and references to them. Some reporters write them as
// tests say them, such as what colours a terminal, and Go's decoder stops there. No byte moves.
type xmlChars struct{ in *bufio.Reader }

// controlReference is a reference to a control character, but for tabs and line breaks.
var controlReference = lazyregexp.New(`^&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bceBCEfF]|1[0-9a-fA-F]));`)

// maxReference bounds a reference, in bytes.
const maxReference = 12

func (x xmlChars) Read(p []byte) (int, error) {
	n, err := x.in.Read(p)
	for i, b := range p[:n] {
		switch {
		case b < ' ' && b != '\t' && b != '\n' && b != '\r':
			p[i] = ' '
		case b == '&':
			ahead := p[i:min(n, i+maxReference)]
			if len(ahead) < maxReference {
				more, _ := x.in.Peek(maxReference - len(ahead)) // what there is
				ahead = slices.Concat(ahead, more)
			}
			if controlReference.Match(ahead) {
				p[i] = '?'
			}
		}
	}
	return n, err
}
