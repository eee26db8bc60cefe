// Package command reads what people write to SIA: "/sia stop", or the app's
// name followed by words. It is pure and imports only sia.
//
// A command stands on the first line of a comment. Everything is decided by
// [Parse]; the table below is the list of commands, in the order in which help
// shows them.
package command

import (
	"strings"

	"github.com/sia-bot/sia/sia"
)

// Command is one command that people can write.
type Command struct {
	Name string
	Args string // how its arguments are written, empty without any
	Does string // one line for the help
	Open bool   // anybody who can comment may use it: it changes nothing
	fact func(arg string) (sia.Fact, string)

	teach func(arg string) (sia.Teach, string) // instead of fact: it concerns the repository and no task
}

// Commands lists every command in the order of the help.
func Commands() []Command {
	return []Command{
		{Name: "start", Args: "[text]", Does: "start on this issue; the text is taken as a further constraint", fact: func(a string) (sia.Fact, string) { return sia.Start{Text: a}, "" }},
		{Name: "stop", Does: "stop now; what was done stays on the branch", fact: only(sia.Stop{})},
		{Name: "pause", Does: "stop for now", fact: only(sia.PauseAsked{})},
		{Name: "resume", Args: "[+credits]", Does: "go on where it stopped, with more credits if you say how many", fact: resume},
		{Name: "retry", Does: "try once more", fact: only(sia.Retry{})},
		{Name: "use", Args: "<technique>", Does: "use this technique next", fact: func(a string) (sia.Fact, string) {
			if a == "" {
				return nil, "name the technique, for example `/sia use decomposition`"
			}
			return sia.Use{Technique: sia.TechniqueID(strings.Fields(strings.ToLower(a))[0])}, ""
		}},
		{Name: "answer", Args: "<letter|text>", Does: "answer the question that is open", fact: func(a string) (sia.Fact, string) {
			if a == "" {
				return nil, "say what the answer is, for example `/sia answer A`"
			}
			return sia.AnswerGiven{Text: a}, ""
		}},
		{Name: "go", Does: "start the plan that waits", fact: func(a string) (sia.Fact, string) {
			if a != "" { // more than a plain yes: what it means is for the reader of answers to say
				return sia.AnswerGiven{Text: "go " + a}, ""
			}
			return sia.Approve{}, ""
		}},
		{Name: "accept-tests", Does: "accept the changes to tests and protected files", fact: only(sia.AcceptTests{})},
		{Name: "learn", Args: "<text>", Does: "remember this for later issues of this repository", teach: func(a string) (sia.Teach, string) {
			if a == "" {
				return sia.Teach{}, "say what is to be remembered, for example `/sia learn run make generate after a change of the schema`"
			}
			return sia.Teach{Learn: a}, ""
		}},
		{Name: "forget", Args: "<lesson>", Does: "forget a lesson for good, named by its id or by its words", teach: func(a string) (sia.Teach, string) {
			if a == "" {
				return sia.Teach{}, "say which lesson, by its id or by its words, for example `/sia forget make generate`"
			}
			return sia.Teach{Forget: a}, ""
		}},
		{Name: "explain", Does: "why SIA did what it did", Open: true, fact: only(sia.Query{Topic: "explain"})},
		{Name: "status", Does: "where the task stands", Open: true, fact: only(sia.Query{Topic: "status"})},
		{Name: "help", Does: "this list", Open: true, fact: only(sia.Query{Topic: "help"})},
	}
}

func only(f sia.Fact) func(string) (sia.Fact, string) {
	return func(string) (sia.Fact, string) { return f, "" }
}

func resume(a string) (sia.Fact, string) {
	if a == "" {
		return sia.Resume{}, ""
	}
	c, err := sia.ParseCredits(a)
	if err != nil {
		return nil, err.Error() + "; write for example `/sia resume +50`"
	}
	return sia.Resume{Credits: c}, ""
}

// Parsed is what was read.
type Parsed struct {
	Fact    sia.Fact  // what it does to the task
	Teach   sia.Teach // or what it has remembered or forgotten; exactly one of Fact, Teach and Problem is set
	Problem string    // or what is wrong, for people
	Open    bool      // nobody's permission is needed
}

// Parse reads a comment's body. ok is false when it does not address SIA. slug
// is the app's name, for "@slug words"; words that are no command are an answer.
func Parse(body, slug string) (p Parsed, ok bool) {
	line, rest, _ := strings.Cut(strings.TrimLeft(body, " \t\r\n"), "\n")
	line = strings.TrimSpace(line)
	first, args, _ := strings.Cut(line, " ")
	mention := slug != "" && strings.EqualFold(strings.TrimRight(first, ",:"), "@"+slug)
	if !mention && !strings.EqualFold(first, "/sia") {
		return Parsed{}, false
	}
	name, arg, _ := strings.Cut(strings.TrimSpace(args), " ")
	arg = strings.TrimSpace(arg)
	name = strings.ToLower(name)
	for _, c := range Commands() {
		if c.Name != name {
			continue
		}
		if (c.Name == "start" || c.Name == "answer" || c.Name == "go" || c.Name == "learn" || c.Name == "forget") && strings.TrimSpace(rest) != "" {
			arg = strings.TrimSpace(arg + "\n" + strings.TrimSpace(rest))
		}
		if c.teach != nil {
			teach, problem := c.teach(arg)
			return Parsed{Teach: teach, Problem: problem, Open: c.Open}, true
		}
		fact, problem := c.fact(arg)
		return Parsed{Fact: fact, Problem: problem, Open: c.Open}, true
	}
	if mention && name != "" {
		return Parsed{Fact: sia.AnswerGiven{Text: strings.TrimSpace(args + "\n" + rest)}}, true
	}
	if name == "" {
		return Parsed{Fact: sia.Query{Topic: "help"}, Open: true}, true
	}
	return Parsed{Problem: "there is no command `" + strings.ReplaceAll(name, "`", "") + "`; did you mean `/sia " + Nearest(name) + "`? `/sia help` lists them all"}, true
}

// Nearest is the command whose name is closest to name by edit distance.
func Nearest(name string) string {
	best, dist := "help", 1<<30
	for _, c := range Commands() {
		if d := distance(name, c.Name); d < dist {
			best, dist = c.Name, d
		}
	}
	return best
}

// distance is the Levenshtein distance of a and b, of which at most 64 bytes count.
func distance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diag
			if a[i-1] != b[j-1] {
				cost++
			}
			diag = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
