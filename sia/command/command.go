// Package command reads what people write to SIA: "/sia stop", or the app's
// name followed by words. It is pure and imports only sia and sia/text.
//
// A command stands on the first line of a comment that its author wrote; see [text.Reply]. Everything is decided by
// [Parse]; the table below is the list of commands, in the order in which help
// shows them.
package command

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Command is one command that people can write.
type Command struct {
	Name string
	Args string                              // how its arguments are written, empty without any
	Does string                              // one line for the help
	Open bool                                // anybody who can comment may use it: it changes nothing
	more bool                                // what stands on the comment's further lines belongs to its argument
	fact func(arg string) (sia.Fact, string) // what it does to the task, or what is wrong, for people
	word func(arg string) bool               // of one that takes no text: whether it takes this word

	teach func(arg string) (sia.Teach, string) // instead of fact, where it concerns the repository and no task
}

// Commands lists every command in the order of the help.
func Commands() []Command {
	return []Command{
		{Name: "start", Args: "[anyway] [text]", Does: "start on this issue; the text is taken as a further constraint; " +
			"with anyway: also when something else resolves it already", more: true, fact: startFact},
		{Name: "stop", Does: "stop now; what was done stays on the branch", fact: fixedFact(sia.Stop{})},
		{Name: "pause", Args: "[all]", Does: "stop for now; with all: everything in this repository", word: isAll,
			fact: func(a string) (sia.Fact, string) {
				if isAll(a) {
					return sia.PauseAsked{Scope: Here}, ""
				}
				return sia.PauseAsked{}, ""
			}},
		{Name: "resume", Args: "[+credits] [all]", Does: "go on where it stopped, with more credits if you say how many; " +
			"with all: everything that `/sia pause all` paused", fact: resumeFact, word: func(a string) bool {
			_, problem := resumeFact(a)
			return problem == ""
		}},
		{Name: "retry", Does: "try once more", fact: fixedFact(sia.Retry{})},
		{Name: "use", Args: "<technique|coder>", Does: "use this technique next, or have this coder work next",
			word: func(string) bool { return true },
			fact: func(a string) (sia.Fact, string) {
				if a == "" {
					return nil, "name the technique, for example `/sia use decomposition`"
				}
				return sia.Use{Technique: sia.TechniqueID(strings.Fields(strings.ToLower(a))[0])}, ""
			}},
		{Name: "answer", Args: "<letter|text>", Does: "answer the question that is open", more: true,
			fact: func(a string) (sia.Fact, string) {
				if a == "" {
					return nil, "say what the answer is, for example `/sia answer A`"
				}
				return sia.AnswerGiven{Text: a}, ""
			}},
		{Name: "go", Does: "start the plan that waits", more: true, fact: func(a string) (sia.Fact, string) {
			if a != "" { // more than a plain yes: what it means is for the reader of answers to say
				return sia.AnswerGiven{Text: "go " + a}, ""
			}
			return sia.Approve{}, ""
		}},
		{Name: "accept-tests", Does: "accept the changes to tests and protected files", fact: fixedFact(sia.AcceptTests{})},
		{Name: "learn", Args: "<text>", Does: "remember this for later issues of this repository", more: true,
			teach: func(a string) (sia.Teach, string) {
				if a == "" {
					return sia.Teach{}, "say what is to be remembered, for example `/sia learn run make generate after a change of " +
						"the schema`"
				}
				return sia.Teach{Learn: a}, ""
			}},
		{Name: "forget", Args: "<lesson>", Does: "forget a lesson for good, named by its id or by its words", more: true,
			teach: func(a string) (sia.Teach, string) {
				if a == "" {
					return sia.Teach{}, "say which lesson, by its id or by its words, for example `/sia forget make generate`"
				}
				return sia.Teach{Forget: a}, ""
			}},
		{Name: "wrong", Args: "<text>", Does: "say what was wrong with the last attempt: it is remembered, and counts " +
			"against the lessons that the attempt was told", more: true, teach: func(a string) (sia.Teach, string) {
			if a == "" {
				return sia.Teach{}, "say what was wrong, for example `/sia wrong the schema is generated and must not be edited`"
			}
			return sia.Teach{Wrong: a}, ""
		}},
		{Name: "explain", Does: "why SIA did what it did", Open: true, fact: fixedFact(sia.Query{Topic: "explain"})},
		{Name: "status", Does: "where the task stands", Open: true, fact: fixedFact(sia.Query{Topic: "status"})},
		{Name: "spent", Does: "what the task has cost so far, and what is left of its budget", Open: true,
			fact: fixedFact(sia.Query{Topic: "spent"})},
		{Name: "help", Does: "this list", Open: true, fact: fixedFact(sia.Query{Topic: "help"})},
	}
}

func fixedFact(f sia.Fact) func(string) (sia.Fact, string) {
	return func(string) (sia.Fact, string) { return f, "" }
}

// Here is the scope of "/sia pause all" and "/sia resume all": the repository in which it
// was written, which whoever reads the comment knows. Nobody's say in one repository
// reaches another.
const Here sia.HaltScope = "repository"

func isAll(a string) bool {
	first, _, _ := strings.Cut(a, " ")
	return isWord(first, "all")
}

// takes reports whether what follows a command's name is what the command takes, so that the name is no word of a
// sentence: any text, where it takes text or changes nothing; else nothing or its one word.
func (c Command) takes(arg string) bool {
	if c.more || c.Open || arg == "" {
		return true
	}
	return c.word != nil && !strings.Contains(arg, " ") && c.word(arg)
}

// isWord compares the first of a command's words, whatever mark follows it.
func isWord(first, word string) bool {
	return strings.EqualFold(strings.TrimRight(first, ".,!:;"), word)
}

// startFact reads what stands after "/sia start".
func startFact(a string) (sia.Fact, string) {
	first := a
	if i := strings.IndexAny(a, " \t\n"); i >= 0 {
		first = a[:i]
	}
	if isWord(first, "anyway") {
		return sia.Start{Anyway: true, Text: strings.TrimSpace(a[len(first):])}, ""
	}
	return sia.Start{Text: a}, ""
}

func resumeFact(a string) (sia.Fact, string) {
	if a == "" {
		return sia.Resume{}, ""
	}
	if isAll(a) {
		return sia.Resume{Scope: Here}, ""
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
	Words   string    // of a Fact that is words and no command: the command that may have been meant, or "none"
}

// NoneMeant is Parsed.Words where the words are like no command.
const NoneMeant = "none"

// Line is the line of a comment's body that addresses SIA, without white space that means
// nothing; false when none does.
func Line(body, slug string) (string, bool) {
	if _, ok := Parse(body, slug); !ok {
		return "", false
	}
	line, _ := firstLine(body)
	return strings.Join(strings.Fields(line), " "), true
}

// Parse reads a comment's body. ok is false when it does not address SIA. slug
// is the app's name, for "@slug words"; words that are no command are an answer.
func Parse(body, slug string) (p Parsed, ok bool) {
	line, rest := firstLine(body)
	args, mention, ok := address(line, slug)
	if !ok {
		return Parsed{}, false
	}
	name, arg, _ := strings.Cut(polite(args), " ")
	arg = strings.TrimSpace(arg)
	name = strings.ToLower(strings.TrimRight(name, ".,!?:;"))
	for _, c := range Commands() {
		if c.Name != name {
			continue
		}
		switch {
		case !c.more:
			arg = brief(arg)
		case strings.TrimSpace(rest) != "":
			arg = strings.TrimSpace(arg + "\n" + strings.TrimSpace(rest))
		}
		if mention && !c.takes(arg) {
			break
		}
		if c.teach != nil {
			teach, problem := c.teach(arg)
			return Parsed{Teach: teach, Problem: problem, Open: c.Open}, true
		}
		fact, problem := c.fact(arg)
		return Parsed{Fact: fact, Problem: problem, Open: c.Open}, true
	}
	if mention && name != "" {
		return Parsed{Fact: sia.AnswerGiven{Text: strings.TrimSpace(args + "\n" + rest)},
			Words: cmp.Or(text.Nearest(name, names()), NoneMeant)}, true
	}
	if name == "" {
		return Parsed{Fact: sia.Query{Topic: "help"}, Open: true}, true
	}
	return Parsed{Problem: noCommand(name)}, true
}

// firstLine is the first line that a person wrote, with each white space in it as a blank, and what follows. It is
// empty where it is code.
func firstLine(body string) (line, rest string) {
	line, rest, _ = strings.Cut(text.Reply(body), "\n")
	if text.IsIndentedCode(line) {
		return "", rest
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, line)), rest
}

// address reads to whom a line is said: SIA by its command or by its name, or somebody else. args are the words that
// follow.
func address(line, slug string) (args string, mention, ok bool) {
	if n := len(line); n > 2 && line[0] == '`' && line[n-1] == '`' { // copied with the marks of code around it
		line = line[1 : n-1]
	}
	first, args, _ := strings.Cut(line, " ")
	if joined, ok := cutFold(first, "/sia"); ok {
		joined = strings.TrimLeft(joined, ":-_.,")
		return strings.TrimSpace(joined + " " + args), false, joined == "" || meansCommand(joined)
	}
	if isWord(first, "hi") || isWord(first, "hey") || isWord(first, "hello") {
		first, args, _ = strings.Cut(strings.TrimSpace(args), " ")
	}
	name, at := strings.CutPrefix(strings.TrimRight(first, ".,!?:;"), "@")
	name = strings.TrimSuffix(strings.ToLower(name), "[bot]")
	if at && name != "" && (name == strings.ToLower(slug) || name == "sia") {
		return strings.TrimSpace(args), true, true
	}
	return "", false, false
}

// meansCommand reports whether a word that stands right behind "/sia" is a command, or one that was mistyped: not
// "/siamese".
func meansCommand(joined string) bool {
	joined = strings.ToLower(joined)
	near := text.Nearest(joined, names())
	return slices.Contains(names(), joined) || len(joined) > 3 && near != "" && near[0] == joined[0]
}

// polite is words without the ones that make a command polite.
func polite(args string) string {
	words := strings.Fields(args)
	for _, p := range [][]string{{"could", "you"}, {"can", "you"}, {"would", "you"}, {"please"}} {
		if len(words) > len(p) && slices.EqualFunc(words[:len(p)], p, isWord) {
			words = words[len(p):]
		}
	}
	if len(words) == len(strings.Fields(args)) {
		return strings.TrimSpace(args)
	}
	return strings.Join(words, " ")
}

// brief is what follows a command that takes no text, without the words that make it polite and urgent.
func brief(arg string) string {
	words := strings.Fields(arg)
	for n := len(words); n > 0; n = len(words) {
		words[n-1] = strings.TrimRight(words[n-1], ".,!?:;")
		if !slices.Contains([]string{"", "please", "pls", "now", "thanks", "thank", "you"}, strings.ToLower(words[n-1])) {
			break
		}
		words = words[:n-1]
	}
	return strings.Join(words, " ")
}

// cutFold is [strings.CutPrefix] whatever the case. The prefix is ASCII.
func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

func names() []string {
	var all []string
	for _, c := range Commands() {
		all = append(all, c.Name)
	}
	return all
}

// noCommand says that there is no command of a name, and which may have been meant, or which there are.
func noCommand(name string) string {
	problem := "there is no command `" + strings.ReplaceAll(text.Clip(text.OneLine(name), 60), "`", "") + "`; "
	if near := text.Nearest(name, names()); near != "" {
		return problem + "did you mean `/sia " + near + "`? `/sia help` lists them all"
	}
	return problem + "there are `" + strings.Join(names(), "`, `") + "`, and `/sia help` says what each does"
}
