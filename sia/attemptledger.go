package sia

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// AttemptLedger contains an attempt's notes for the next one: the coder's hypotheses, what works and what leads
// nowhere, if the transcript supports it, and the commands that SIA saw it run. The [Attempt] contains what it changed
// and which checks failed.
type AttemptLedger struct {
	Version int           `json:"version"`           // version of the schema: LedgerVersion
	Entries []LedgerEntry `json:"entries,omitempty"` // the coder's entries, checked against the transcript
	Ran     []RanCommand  `json:"ran,omitempty"`     // the last distinct commands, each with its last result
	Dropped int           `json:"dropped,omitempty"` // number of entries without support in the transcript
}

// LedgerVersion is the version of [AttemptLedger]'s schema.
const LedgerVersion = 1

// Bounds of an [AttemptLedger]. With them the next brief's text about an attempt is no longer than it was with a quote
// of 1,500 characters of the coder's summary.
const (
	MaxLedgerEntries = 8
	MaxLedgerText    = 1100 // bytes of [AttemptLedger.Lines], line ends included
	maxLedgerRan     = 3    // commands
	maxLedgerCommand = 80   // characters
	maxLedgerEnded   = 60   // characters
	maxLedgerSays    = 200  // characters
	maxLedgerTrace   = 120  // characters
	maxLedgerTraces  = 2    // for an entry, and the same number against it
)

// LedgerKind is the kind of an entry of a ledger.
type LedgerKind string

// The kinds of entries.
const (
	LedgerHypothesis LedgerKind = "hypothesis" // a possible cause or remedy
	LedgerWorks      LedgerKind = "works"
	LedgerDeadEnd    LedgerKind = "dead_end"
)

// LedgerEntry is one entry, written by the coder.
type LedgerEntry struct {
	Kind    LedgerKind `json:"kind"`
	Says    string     `json:"says"`
	For     []Trace    `json:"for,omitempty"`
	Against []Trace    `json:"against,omitempty"`
	// it can't be checked: it names no trace, or the transcript does not contain calls
	Unverified bool `json:"unverified,omitempty"`
}

// Trace refers to the evidence for an entry in the transcript. One of Ran, Saw and Changed is set.
type Trace struct {
	Ran     string `json:"ran,omitempty"`     // a command
	Saw     string `json:"saw,omitempty"`     // text that a tool returned
	Changed string `json:"changed,omitempty"` // a path
	Ended   string `json:"ended,omitempty"`   // the command's result in the transcript
	Turn    int    `json:"turn,omitempty"`    // turn of the transcript; 0: none
}

// RanCommand is a command that an attempt ran.
type RanCommand struct {
	Command string `json:"command"`
	Ended   string `json:"ended,omitempty"` // the first line of its result
	Turn    int    `json:"turn"`
}

// ReadLedger decodes a coder's entries, a JSON list. It truncates long texts and lists, and reads an unknown kind as a
// hypothesis. The error is worded for the coder.
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

// Bounded returns the ledger cut to the bounds, with only the last commands; nil if it is empty.
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

// Join appends the ledger of another run of the same attempt. Either may be nil.
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

// Said reports whether the ledger has an entry of the coder.
func (l *AttemptLedger) Said() bool { return l != nil && len(l.Entries) > 0 }

var ledgerWords = map[LedgerKind]string{LedgerHypothesis: "Hypothesis", LedgerWorks: "Works", LedgerDeadEnd: "Dead end"}

// Lines returns the ledger as text, one line for each entry, within [MaxLedgerText]. The text is untrusted.
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
	for _, kind := range []LedgerKind{LedgerDeadEnd, LedgerHypothesis, LedgerWorks} { // the most useful first
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

// String returns the trace as text.
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
