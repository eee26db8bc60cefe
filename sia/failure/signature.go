package failure

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Bounds of what a signature is made of.
const (
	sigBlocks = 12 // blocks
	sigLines  = 24 // lines of a block, stack frames not counted
)

// rubyFrame is a stack frame as Ruby, Go and Haskell print it.
var rubyFrame = lazyregexp.New(`^(\S+:\d+:in |\S+\.go:\d+ \+0x|called at |CallStack)`)

// signatureOf is 16 hexadecimal digits that are equal for the same failure: a
// hash of what the explaining blocks say.
func signatureOf(bs []*block, tests []Test) string {
	said := maskedLines(bs)
	if len(bs) > 0 && bs[0].rule.class == TestFailure {
		var names []string
		for _, t := range tests {
			names = append(names, maskVarying(t.Name))
		}
		slices.Sort(names)
		said = append(said, slices.Compact(names)...)
	}
	if len(said) == 0 {
		return ""
	}
	h := sha256.Sum256([]byte(strings.Join(said, "\n")))
	return hex.EncodeToString(h[:])[:16]
}

// maskedLines is what blocks say without what varies from run to run: stack frames,
// times, addresses and the like. No line comes twice.
func maskedLines(bs []*block) []string {
	var said []string
	seen := map[string]bool{}
	for i, b := range bs {
		if i == sigBlocks {
			break
		}
		n := 0
		for _, l := range b.lines() {
			t := strings.TrimSpace(l.text)
			if isStackFrame([]byte(t)) || rubyFrame.MatchString(t) {
				continue
			}
			m := maskVarying(t)
			if m == "" || n == sigLines {
				continue
			}
			n++
			if !seen[m] {
				seen[m] = true
				said = append(said, m)
			}
		}
	}
	return said
}
