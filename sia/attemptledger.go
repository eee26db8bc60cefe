package sia

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// AttemptLedger is what an attempt leaves to whoever goes on: what its coder thought, what works and what leads
// nowhere, as far as the transcript bears it out, and the commands that SIA saw it run. What it changed and which
// checks failed stand in the [Attempt].
type AttemptLedger struct {
	Version int           `json:"version"`           // of this schema: LedgerVersion
	Entries []LedgerEntry `json:"entries,omitempty"` // the coder's, checked
	Ran     []RanCommand  `json:"ran,omitempty"`     // the last ones, each once, as it ended the last time
	Dropped int           `json:"dropped,omitempty"` // entries that claimed what the transcript has no trace of
}

// LedgerVersion is the version of [AttemptLedger]'s schema.
const LedgerVersion = 1

// Bounds of an [AttemptLedger]. They keep the longest that the next brief says of an attempt within what it was when it
// quoted 1,500 characters of closing words.
const (
	MaxLedgerEntries = 8
	MaxLedgerText    = 1100 // bytes of [AttemptLedger.Lines], line ends included
	maxLedgerRan     = 3    // commands
	maxLedgerCommand = 80   // characters
	maxLedgerEnded   = 60   // characters
	maxLedgerSays    = 200  // characters
	maxLedgerTrace   = 120  // characters
	maxLedgerTraces  = 2    // for an entry, and as many against it
)

// LedgerKind is what an entry of a ledger says.
type LedgerKind string

// The kinds of entries.
const (
	LedgerHypothesis LedgerKind = "hypothesis" // why it is as it is, or what would help
	LedgerWorks      LedgerKind = "works"
	LedgerDeadEnd    LedgerKind = "dead_end"
)

// LedgerEntry is one entry, in the coder's words.
type LedgerEntry struct {
	Kind    LedgerKind `json:"kind"`
	Says    string     `json:"says"`
	For     []Trace    `json:"for,omitempty"`
	Against []Trace    `json:"against,omitempty"`
	// nothing of it can be looked up: it names no trace, or the transcript does not show calls
	Unverified bool `json:"unverified,omitempty"`
}

// Trace is where an entry can be seen in the transcript. One of Ran, Saw and Changed is set.
type Trace struct {
	Ran     string `json:"ran,omitempty"`     // a command
	Saw     string `json:"saw,omitempty"`     // words of what a tool returned
	Changed string `json:"changed,omitempty"` // a path
	Ended   string `json:"ended,omitempty"`   // how the command ended, as the transcript has it
	Turn    int    `json:"turn,omitempty"`    // of the transcript; 0: none
}

// RanCommand is a command that an attempt ran.
type RanCommand struct {
	Command string `json:"command"`
	Ended   string `json:"ended,omitempty"` // the first line of its result
	Turn    int    `json:"turn"`
}

// ReadLedger reads a coder's own entries: a JSON list. What is too long or too much is cut, and a kind that does not
// exist is a hypothesis. The error is for the coder.
func ReadLedger(list []byte) ([]LedgerEntry, error) {
	var all []LedgerEntry
	if err := json.Unmarshal(list, &all); err != nil {
		return nil, fmt.Errorf("the ledger is no list of entries with kind, says, for and against: %w", err)
	}
	traces := func(of []Trace) (out []Trace) {
		for _, t := range of {
			cut := func(s string) string { return text.Clip(text.OneLine(s), maxLedgerTrace) }
			t = Trace{Ran: cut(t.Ran), Saw: cut(t.Saw), Changed: cut(t.Changed)}
			if t != (Trace{}) && len(out) < maxLedgerTraces {
				out = append(out, t)
			}
		}
		return out
	}
	var out []LedgerEntry
	for _, e := range all {
		e.Says = text.Clip(text.OneLine(e.Says), maxLedgerSays)
		if e.Says == "" || len(out) == MaxLedgerEntries {
			continue
		}
		if e.Kind != LedgerWorks && e.Kind != LedgerDeadEnd {
			e.Kind = LedgerHypothesis
		}
		out = append(out, LedgerEntry{Kind: e.Kind, Says: e.Says, For: traces(e.For), Against: traces(e.Against)})
	}
	return out, nil
}

// Bounded is the ledger with the last commands it ran alone; nil where nothing is left in it.
func (l AttemptLedger) Bounded() *AttemptLedger {
	l.Version = LedgerVersion
	l.Entries = l.Entries[:min(len(l.Entries), MaxLedgerEntries)]
	l.Ran = slices.Clone(l.Ran[max(0, len(l.Ran)-maxLedgerRan):])
	for i, r := range l.Ran {
		l.Ran[i] = RanCommand{text.Clip(text.OneLine(r.Command), maxLedgerCommand),
			text.Clip(text.OneLine(r.Ended), maxLedgerEnded), r.Turn}
	}
	if len(l.Entries)+len(l.Ran)+l.Dropped == 0 {
		return nil
	}
	return &l
}

// Join puts the ledger of another run of the same attempt behind this one. Either may be nil.
func (l *AttemptLedger) Join(o *AttemptLedger) *AttemptLedger {
	if l == nil || o == nil {
		if l == nil {
			return o
		}
		return l
	}
	return AttemptLedger{Entries: slices.Concat(l.Entries, o.Entries), Ran: slices.Concat(l.Ran, o.Ran),
		Dropped: l.Dropped + o.Dropped}.Bounded()
}

// Said reports whether the coder left an entry that was kept.
func (l *AttemptLedger) Said() bool { return l != nil && len(l.Entries) > 0 }

var ledgerWords = map[LedgerKind]string{LedgerHypothesis: "Hypothesis", LedgerWorks: "Works", LedgerDeadEnd: "Dead end"}

// Lines are the ledger in words, a line an entry, within [MaxLedgerText]. They hold a stranger's text.
func (l *AttemptLedger) Lines() (lines []string) {
	if l == nil {
		return nil
	}
	size := 0
	add := func(line string) {
		if size+len(line) < MaxLedgerText {
			lines, size = append(lines, line), size+len(line)+1
		}
	}
	for _, kind := range []LedgerKind{LedgerDeadEnd, LedgerHypothesis, LedgerWorks} { // what saves most first
		for _, e := range l.Entries {
			if e.Kind == kind {
				add(e.line())
			}
		}
	}
	for _, r := range l.Ran {
		add(fmt.Sprintf("Ran %s: %s", code(r.Command), r.Ended))
	}
	return lines
}

func (e LedgerEntry) line() string {
	s := ledgerWords[e.Kind]
	if e.Unverified {
		s += ", unverified"
	}
	s += ": " + e.Says
	for _, side := range []struct {
		name string
		of   []Trace
	}{{"for", e.For}, {"against", e.Against}} {
		var said []string
		for _, t := range side.of {
			said = append(said, t.String())
		}
		if len(said) > 0 {
			s += fmt.Sprintf(" (%s: %s)", side.name, strings.Join(said, "; "))
		}
	}
	return s
}

// String is the trace in words.
func (t Trace) String() string {
	s := "changed " + t.Changed
	switch {
	case t.Ran != "":
		if s = "ran " + code(t.Ran); t.Ended != "" {
			s += ", " + t.Ended
		}
	case t.Saw != "":
		s = "saw “" + t.Saw + "”"
	}
	if t.Turn > 0 {
		s += fmt.Sprintf(", turn %d", t.Turn)
	}
	return s
}
