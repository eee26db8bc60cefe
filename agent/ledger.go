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

// minSawLength is the minimum size of a text that is searched for in results or commands, in bytes: shorter texts match
// anywhere.
const minSawLength = 8

// maxTraced is the maximum length of a command and of its result in a trace, in characters.
const maxTraced = 80

// CheckLedger returns the ledger of a run: the coder's entries that the turns and the changed paths confirm, and the
// commands that ran. An entry is dropped if none of its traces is found. If the turns show no calls, as for a command
// that prints text, entries are kept and marked as unverified. The results of commands come from the transcript: a
// command that failed does not confirm that something works. CheckLedger returns nil if nothing is left.
func CheckLedger(entries []sia.LedgerEntry, turns []Turn, changed []string) *sia.AttemptLedger {
	seen := indexTranscript(turns, changed)
	l := sia.AttemptLedger{Ran: seen.ran}
	for _, e := range sia.Masked(entries, secret.Mask) {
		named := len(e.For) + len(e.Against)
		e.For, e.Against = seen.confirmed(e.For, e.Kind == sia.LedgerWorks), seen.confirmed(e.Against, false)
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

// transcriptIndex indexes a transcript for lookups.
type transcriptIndex struct {
	calls   bool             // the turns record tool calls
	ran     []sia.RanCommand // each command once with its last result, in the order of the last runs
	failed  map[string]bool  // commands of ran that failed
	results []seenResult
	changed map[string]int // paths, with the turn that last changed each; 0: only the diff has it
}

type seenResult struct {
	text string
	turn int
}

func indexTranscript(turns []Turn, changed []string) transcriptIndex {
	s := transcriptIndex{failed: map[string]bool{}, changed: map[string]int{}}
	for _, p := range changed {
		s.changed[p] = 0
	}
	for _, t := range turns {
		for _, c := range t.Calls {
			if c.Name == tool.NameFinish || c.Result == "" {
				continue // it contains the claims themselves, or was not carried out
			}
			s.calls = true
			s.results = append(s.results, seenResult{collapseSpace(c.Result), t.Number})
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

// confirmed returns the traces that are found. If works is set, a command that failed is not one.
func (s transcriptIndex) confirmed(traces []sia.Trace, works bool) (out []sia.Trace) {
	for _, t := range traces {
		switch {
		case t.Ran != "":
			ran := collapseSpace(t.Ran)
			i := slices.IndexFunc(s.ran, func(r sia.RanCommand) bool {
				whole := collapseSpace(r.Command)
				return whole == ran || len(ran) >= minSawLength && strings.Contains(whole, ran)
			})
			if i >= 0 && works && s.failed[s.ran[i].Command] || i < 0 && s.calls {
				continue
			}
			if i >= 0 {
				t = sia.Trace{Ran: clipLine(s.ran[i].Command, maxTraced), Ended: clipLine(s.ran[i].Ended, maxTraced),
					Turn: s.ran[i].Turn}
			}
		case t.Saw != "":
			words := collapseSpace(t.Saw)
			i := slices.IndexFunc(s.results, func(r seenResult) bool { return strings.Contains(r.text, words) })
			if len(words) < minSawLength || i < 0 && s.calls {
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

// commandRan returns the shell command that a call of the builtin agent or of a known one ran, and its result.
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
	if rest = strings.TrimSpace(rest); rest != "" { // output only: the last line is the most telling
		first = rest[strings.LastIndexByte(rest, '\n')+1:]
	}
	return command, first, c.IsError
}

// collapseSpace replaces runs of white space by one space.
func collapseSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// ledgerBlock matches the ledger in a command's last output.
var ledgerBlock = lazyregexp.New("(?s)```(?:sia-)?ledger\\s*\n(.*?)```")

// extractLedger removes the last ledger block from a command's output. entries is nil if there is no valid block; wrong
// is the reason if it is invalid.
func extractLedger(words string) (rest string, entries []sia.LedgerEntry, wrong string) {
	rest, list, ok := extractBlock(ledgerBlock, words)
	if !ok {
		return words, nil, ""
	}
	entries, err := sia.ReadLedger([]byte(list))
	if err != nil {
		wrong = err.Error()
	}
	return rest, entries, wrong
}

// extractBlock removes the last block from a command's output and returns its content; ok is false if there is none.
func extractBlock(block *lazyregexp.Regexp, words string) (rest, content string, ok bool) {
	all := block.FindAllStringSubmatchIndex(words, -1)
	if len(all) == 0 {
		return words, "", false
	}
	m := all[len(all)-1]
	return strings.TrimSpace(words[:m[0]] + words[m[1]:]), words[m[2]:m[3]], true
}
