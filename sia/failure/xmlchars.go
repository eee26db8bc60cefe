package failure

import (
	"bufio"
	"slices"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// xmlChars is a reader that replaces control characters, which XML does not allow, and references to them. Some
// reporters copy them from a test's output, such as terminal colours, and Go's decoder stops there. The length of the
// text does not change.
type xmlChars struct{ in *bufio.Reader }

// controlReference matches a reference to a control character other than a tab or line break.
var controlReference = lazyregexp.New(`^&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bceBCEfF]|1[0-9a-fA-F]));`)

// maxReference is the maximum length of a reference, in bytes.
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
				more, _ := x.in.Peek(maxReference - len(ahead)) // as much as is available
				ahead = slices.Concat(ahead, more)
			}
			if controlReference.Match(ahead) {
				p[i] = '?'
			}
		}
	}
	return n, err
}
