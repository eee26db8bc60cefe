package failure

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// sigLines is the maximum number of lines of a block in its signature, stack frames not counted.
const sigLines = 24

// rubyFrame matches a stack frame as Ruby, Go and Haskell print it.
var rubyFrame = lazyregexp.New(`^(\S+:\d+:in |\S+\.go:\d+ \+0x|called at |CallStack)`)

// xdistWorker matches the line in which pytest-xdist names the worker that ran a test.
var xdistWorker = lazyregexp.New(`^\[gw\d+\] `)

// signatureOf returns 16 hexadecimal digits that are equal for the same failure: a hash of the blocks' masked lines in
// any order.
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

// maskedLines returns the lines of a block without text that varies from run to run: stack frames, times, addresses and
// so on.
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
