package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/secret"
)

// leastSaw is how many bytes words have that are looked up among results, or within a command: fewer stand anywhere.
const leastSaw = 8

// mostTraced is how many characters are kept of a command that an entry rests on, and of how it ended.
const mostTraced = 80

// CheckLedger is the ledger of a run: the coder's entries as far as the turns and the paths that its diff changes bear
// them out, and what it ran. An entry is dropped when none of its traces is found. Where the turns show no calls, as
// those of a command that prints text, it is kept and marked. How a command ended is taken from the transcript: one
// that failed is no trace of something that works. It is nil where nothing is left.
func CheckLedger(entries []sia.LedgerEntry, turns []Turn, changed []string) *sia.AttemptLedger {
	seen := newSeen(turns, changed)
	l := sia.AttemptLedger{Ran: seen.ran}
	for _, e := range sia.Masked(entries, secret.Mask) {
		named := len(e.For) + len(e.Against)
		e.For, e.Against = seen.found(e.For, e.Kind == sia.LedgerWorks), seen.found(e.Against, false)
		e.Unverified = named == 0 || !slices.ContainsFunc(slices.Concat(e.For, e.Against), func(t sia.Trace) bool {
			return t.Turn > 0 || t.Changed != ""
		})
		if named > 0 && len(e.For)+len(e.Against) == 0 {
			l.Dropped++
			continue
		}
		l.Entries = append(l.Entries, e)
	}
	return l.Bounded()
}

// seenCalls is what can be looked up in a transcript.
type seenCalls struct {
	calls   bool             // the turns show what tools were called
	ran     []sia.RanCommand // each once, as it ended last, in the order of that
	failed  map[string]bool  // commands of ran that failed
	results []seenText
	changed map[string]int // paths, and the turn in which they were last changed; 0: the diff has them
}

type seenText struct {
	text string
	turn int
}

func newSeen(turns []Turn, changed []string) seenCalls {
	s := seenCalls{failed: map[string]bool{}, changed: map[string]int{}}
	for _, p := range changed {
		s.changed[p] = 0
	}
	for _, t := range turns {
		for _, c := range t.Calls {
			if c.Name == tool.NameFinish || c.Result == "" {
				continue // its words are the claims themselves, or it was not carried out
			}
			s.calls = true
			s.results = append(s.results, seenText{oneSpaced(c.Result), t.Number})
			for _, p := range c.Changed {
				s.changed[p] = t.Number
			}
			if command, ended, failed := c.commandRan(); command != "" {
				s.ran = slices.DeleteFunc(s.ran, func(r sia.RanCommand) bool { return r.Command == command })
				s.ran = append(s.ran, sia.RanCommand{Command: command, Ended: ended, Turn: t.Number})
				s.failed[command] = failed
			}
		}
	}
	return s
}

// found are the traces that are there. works says that a command which failed is none.
func (s seenCalls) found(traces []sia.Trace, works bool) (out []sia.Trace) {
	for _, t := range traces {
		switch {
		case t.Ran != "":
			ran := oneSpaced(t.Ran)
			i := slices.IndexFunc(s.ran, func(r sia.RanCommand) bool {
				whole := oneSpaced(r.Command)
				return whole == ran || len(ran) >= leastSaw && strings.Contains(whole, ran)
			})
			if i >= 0 && works && s.failed[s.ran[i].Command] || i < 0 && s.calls {
				continue
			}
			if i >= 0 {
				t = sia.Trace{Ran: clipLine(s.ran[i].Command, mostTraced), Ended: clipLine(s.ran[i].Ended, mostTraced),
					Turn: s.ran[i].Turn}
			}
		case t.Saw != "":
			words := oneSpaced(t.Saw)
			i := slices.IndexFunc(s.results, func(r seenText) bool { return strings.Contains(r.text, words) })
			if len(words) < leastSaw || i < 0 && s.calls {
				continue
			}
			if t = (sia.Trace{Saw: t.Saw}); i >= 0 {
				t.Turn = s.results[i].turn
			}
		default:
			turn, is := s.changed[strings.TrimPrefix(t.Changed, "./")]
			if !is {
				continue
			}
			t = sia.Trace{Changed: t.Changed, Turn: turn}
		}
		out = append(out, t)
	}
	return out
}

// commandRan is the shell command that a call ran, of the builtin agent or of one that is known, and its result.
func (c Call) commandRan() (command, ended string, failed bool) {
	first, rest, _ := strings.Cut(strings.TrimSpace(c.Result), "\n")
	switch name := strings.ToLower(c.Name); {
	case c.Name == tool.NameTest:
		verdict, command, _ := strings.Cut(first, ": ")
		command, ending, _ := strings.Cut(command, ", ")
		if ending != "" {
			verdict += ", " + ending
		}
		return command, verdict, c.IsError || !strings.HasPrefix(verdict, "The tests pass")
	case name == "shell": // Codex's: its arguments are the command
		command = c.Arguments
	case c.Name == tool.NameRun, name == "bash":
		var a struct{ Command string }
		if json.Unmarshal([]byte(c.Arguments), &a) != nil {
			return "", "", false
		}
		command = a.Command
	}
	if c.Name == tool.NameRun {
		return command, first, c.IsError || first != "exit status 0"
	}
	if rest = strings.TrimSpace(rest); rest != "" { // output alone: its end says most
		first = rest[strings.LastIndexByte(rest, '\n')+1:]
	}
	return command, first, c.IsError
}

// oneSpaced is text with one space where there is white space.
func oneSpaced(s string) string { return strings.Join(strings.Fields(s), " ") }

// ledgerBlock is the ledger that a command leaves in its last words.
var ledgerBlock = lazyregexp.New("(?s)```(?:sia-)?ledger\\s*\n(.*?)```")

// takeLedger takes the last such block out of a command's words. It is nil where there is none that can be read; then
// wrong says why.
func takeLedger(words string) (rest string, entries []sia.LedgerEntry, wrong string) {
	all := ledgerBlock.FindAllStringSubmatchIndex(words, -1)
	if len(all) == 0 {
		return words, nil, ""
	}
	m := all[len(all)-1]
	entries, err := sia.ReadLedger([]byte(words[m[2]:m[3]]))
	if err != nil {
		wrong = err.Error()
	}
	return strings.TrimSpace(words[:m[0]] + words[m[1]:]), entries, wrong
}
