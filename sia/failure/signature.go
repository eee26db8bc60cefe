package failure

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// sigLines is how many lines of a block a signature is made of, stack frames not counted.
const sigLines = 24

// rubyFrame is a stack frame as Ruby, Go and Haskell print it.
var rubyFrame = lazyregexp.New(`^(\S+:\d+:in |\S+\.go:\d+ \+0x|called at |CallStack)`)

// xdistWorker is the line with which pytest-xdist says which of its workers ran a test.
var xdistWorker = lazyregexp.New(`^\[gw\d+\] `)

// signatureOf is 16 hexadecimal digits that are equal for the same failure: a
// hash of what the explaining blocks say, in whatever order they say it.
func signatureOf(bs []*block, tests []Test) string {
	var said []string
	for _, b := range bs {
		said = append(said, maskedLines(b)...)
	}
	if len(bs) > 0 && bs[0].rule.class == TestFailure {
		for _, t := range tests {
			said = append(said, maskVarying(t.Name))
		}
	}
	if len(said) == 0 {
		return ""
	}
	slices.Sort(said)
	h := sha256.Sum256([]byte(strings.Join(slices.Compact(said), "\n")))
	return hex.EncodeToString(h[:])[:16]
}

// maskedLines is what a block says without what varies from run to run: stack frames,
// times, addresses and the like.
func maskedLines(b *block) (said []string) {
	for _, l := range b.lines() {
		t := strings.TrimSpace(l.text)
		if isStackFrame([]byte(t)) || rubyFrame.MatchString(t) || xdistWorker.MatchString(t) {
			continue
		}
		if m := maskVarying(t); m != "" && len(said) < sigLines {
			said = append(said, m)
		}
	}
	return said
}
