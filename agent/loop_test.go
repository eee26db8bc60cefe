package agent

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/stuck"
)

// feed feeds a detector with calls written as "name:result". A result that begins with "!" is an error. It returns the
// number of calls until the detector signals; 0: it does not.
func feed(calls []string) (int, *sia.Signal) {
	var d loopDetector
	for i, c := range calls {
		var name, result string
		for j := range c {
			if c[j] == ':' {
				name, result = c[:j], c[j+1:]
				break
			}
		}
		if s := d.addCall(stuck.Action{Tool: name, Args: name, Result: result, Error: result[0] == '!'}, false); s != nil {
			return i + 1, s
		}
	}
	return 0, nil
}

func TestCircles(t *testing.T) {
	for name, tt := range map[string]struct {
		calls []string
		at    int
	}{
		"four the same":                {[]string{"a:1", "a:1", "a:1", "a:1"}, 4},
		"three the same":               {[]string{"a:1", "a:1", "a:1", "b:1", "a:1"}, 0},
		"the result changes":           {[]string{"a:1", "a:2", "a:3", "a:4", "a:5", "a:6"}, 0},
		"three errors":                 {[]string{"a:!x", "a:!y", "a:!z"}, 3},
		"errors of different calls":    {[]string{"a:!x", "b:!x", "c:!x", "d:!x"}, 0},
		"an error, repaired":           {[]string{"a:!x", "a:!x", "a:1", "a:!x", "a:!x"}, 0},
		"six alternating":              {[]string{"a:1", "b:1", "a:1", "b:1", "a:1", "b:1"}, 6},
		"six alternating, new results": {[]string{"a:1", "b:1", "a:2", "b:1", "a:3", "b:1", "a:4", "b:1"}, 0},
		"three alternating":            {[]string{"a:1", "b:1", "c:1", "a:1", "b:1", "c:1", "a:1", "b:1", "c:1"}, 0},
	} {
		if at, s := feed(tt.calls); at != tt.at {
			t.Errorf("%s: signalled at %d (%+v), want %d", name, at, s, tt.at)
		}
	}
}

// An attempt in which no result is repeated is never interrupted; one that goes round in circles from some point on
// always is, within the number of calls that the rule needs.
func TestCirclesProperty(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c"})
	rapid.Check(t, func(t *rapid.T) {
		var calls []string
		for i, n := range rapid.SliceOfN(name, 0, 60).Draw(t, "progress") {
			calls = append(calls, fmt.Sprintf("%s:%d", n, i))
		}
		if at, s := feed(calls); at != 0 {
			t.Fatalf("progress was interrupted at %d: %+v", at, s)
		}
		start := len(calls)
		circle, within := []string{"x:0"}, 4
		switch rapid.IntRange(0, 2).Draw(t, "circle") {
		case 1:
			circle, within = []string{"x:!e"}, 3
		case 2:
			circle, within = []string{"x:0", "y:0"}, 6
		}
		for i := range 12 {
			calls = append(calls, circle[i%len(circle)])
		}
		if at, _ := feed(calls); at != start+within {
			t.Fatalf("a circle of %v from call %d was found at %d", circle, start, at)
		}
	})
}

func TestBroken(t *testing.T) {
	d := loopDetector{}
	for i := range maxMalformed {
		if s := d.endTurn(false, 2); (s != nil) != (i == maxMalformed-1) {
			t.Errorf("malformed answer %d: %+v", i+1, s)
		}
		if i == 1 { // one good answer resets the count
			d.endTurn(true, 1)
			d.malformed = 2
		}
	}
}

func TestCanonicalArguments(t *testing.T) {
	if a, b := canonicalArgs(`{"b":1, "a":2}`), canonicalArgs(`{"a":2,"b":1}`); a != b {
		t.Errorf("%s differs from %s", a, b)
	}
	if got := canonicalArgs("{not"); got != "{not" {
		t.Errorf("got %q", got)
	}
}
