// Package command parses comments to SIA: "/sia stop", or the app's name followed
// by text. It is pure and imports only sia and sia/text.
//
// A command is on the first line of a comment that its author wrote; see [text.Reply]. Start reading at [Parse];
// [Commands] is the table of commands, in the order in which help shows them.
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
	Name  string
	Args  string                              // syntax of its arguments; empty: none
	Does  string                              // one line for the help
	Open  bool                                // anybody who can comment may use it, because it changes nothing
	more  bool                                // the comment's further lines belong to its argument
	empty string                              // the problem, for people, if there is no argument; empty: it needs none
	fact  func(arg string) (sia.Fact, string) // returns its effect on the task, or a problem for people
	word  func(arg string) bool               // for a command without text: reports whether it accepts this word
	words int                                 // the maximum number of such words; 0: one

	teach func(arg string) sia.Teach // instead of fact, if it concerns the repository and no task
}

// Commands returns every command, in the order of the help.
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
			"with all: everything that `/sia pause all` paused", fact: resumeFact, words: 2, word: func(w string) bool {
			_, problem := resumeFact(w)
			return problem == ""
		}},
		{Name: "retry", Does: "try once more", fact: fixedFact(sia.Retry{})},
		{Name: "use", Args: "<technique|coder>", Does: "use this technique next, or have this coder work next",
			empty: "name the technique, for example `/sia use decomposition`",
			word:  func(string) bool { return true },
			fact: func(a string) (sia.Fact, string) {
				return sia.Use{Technique: sia.TechniqueID(strings.Join(strings.Fields(strings.ToLower(a)), " "))}, ""
			}},
		{Name: "answer", Args: "<letter|text>", Does: "answer the question that is open", more: true,
			empty: "say what the answer is, for example `/sia answer A`",
			fact:  func(a string) (sia.Fact, string) { return sia.AnswerGiven{Text: a}, "" }},
		{Name: "go", Does: "start the plan that waits", more: true, fact: func(a string) (sia.Fact, string) {
			if a != "" { // more than a plain yes: it is parsed as an answer
				return sia.AnswerGiven{Text: "go " + a}, ""
			}
			return sia.Approve{}, ""
		}},
		{Name: "accept-tests", Does: "accept the changes to tests and protected files", fact: fixedFact(sia.AcceptTests{})},
		{Name: "learn", Args: "<text>", Does: "remember this for later issues of this repository", more: true,
			empty: "say what is to be remembered, for example `/sia learn run make generate after a change of the schema`",
			teach: func(a string) sia.Teach { return sia.Teach{Learn: a} }},
		{Name: "forget", Args: "<lesson>", Does: "forget a lesson for good, named by its id or by its words", more: true,
			empty: "say which lesson, by its id or by its words, for example `/sia forget make generate`",
			teach: func(a string) sia.Teach { return sia.Teach{Forget: a} }},
		{Name: "wrong", Args: "<text>", Does: "say what was wrong with the last attempt: it is remembered, and counts " +
			"against the lessons that the attempt was told", more: true,
			empty: "say what was wrong, for example `/sia wrong the schema is generated and must not be edited`",
			teach: func(a string) sia.Teach { return sia.Teach{Wrong: a} }},
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

// Here is the scope of "/sia pause all" and "/sia resume all": the repository of the
// comment, which the caller knows. A permission in one repository has no effect in
// another.
const Here sia.HaltScope = "repository"

func isAll(a string) bool {
	first, _, _ := strings.Cut(a, " ")
	return isWord(first, "all")
}

// takes reports whether arg is a valid argument, so that the command's name is not just a word of a sentence: any text,
// if the command takes text or changes nothing; else nothing or its words.
func (c Command) takes(arg string) bool {
	if c.more || c.Open || arg == "" {
		return true
	}
	words := strings.Fields(arg)
	return c.word != nil && len(words) <= max(1, c.words) &&
		!slices.ContainsFunc(words, func(w string) bool { return !c.word(w) })
}

// isWord reports whether first equals word, ignoring case and trailing punctuation.
func isWord(first, word string) bool {
	return strings.EqualFold(strings.TrimRight(first, ".,!:;"), word)
}

// startFact parses the argument of "/sia start".
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
	var f sia.Resume
	for _, word := range strings.Fields(a) {
		if isAll(word) {
			f.Scope = Here
			continue
		}
		c, err := sia.ParseCredits(strings.TrimRight(word, ",.;"))
		switch {
		case err == nil:
			f.Credits = c
		case f.Scope == "":
			return nil, err.Error() + "; write for example `/sia resume +50`"
		}
	}
	return f, ""
}

// Parsed is a parsed comment. Exactly one of Fact, Teach and Problem is set.
type Parsed struct {
	Fact    sia.Fact  // the effect on the task
	Teach   sia.Teach // the lesson to learn or forget
	Problem string    // what is wrong, for people
	Open    bool      // no permission is needed
	Words   string    // if Fact is text and no command: the command that may have been meant, or NoneMeant
}

// NoneMeant is the value of Parsed.Words if the text resembles no command.
const NoneMeant = "none"

// Line returns the line of a comment's body that addresses SIA, with normalised white space, and
// whether there is one.
func Line(body, slug string) (string, bool) {
	if _, ok := Parse(body, slug); !ok {
		return "", false
	}
	line, _ := firstLine(body)
	return strings.Join(strings.Fields(line), " "), true
}

// Parse parses a comment's body. ok is false if it does not address SIA. slug is
// the app's name, for "@slug text"; text that is not a command is an answer.
func Parse(body, slug string) (p Parsed, ok bool) {
	line, rest := firstLine(body)
	args, mention, ok := address(line, slug)
	if !ok {
		return Parsed{}, false
	}
	name, arg, _ := strings.Cut(withoutPolite(args), " ")
	name = strings.ToLower(strings.TrimRight(name, ".,!?:;"))
	if before, after, ok := strings.Cut(name, "+"); ok && slices.Contains(names(), before) { // such as "resume+50"
		name, arg = before, "+"+after+" "+arg
	}
	arg = strings.TrimSpace(arg)
	for _, c := range Commands() {
		if c.Name != name {
			continue
		}
		switch {
		case !c.more:
			arg = withoutTail(arg)
		case strings.TrimSpace(rest) != "":
			arg = strings.TrimSpace(arg + "\n" + strings.TrimSpace(rest))
		}
		if mention && !c.takes(arg) {
			break
		}
		if arg == "" && c.empty != "" {
			return Parsed{Problem: c.empty, Open: c.Open}, true
		}
		if c.teach != nil {
			return Parsed{Teach: c.teach(arg), Open: c.Open}, true
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

// firstLine returns the first line that a person wrote, with each white space character replaced by a space, and the
// following lines. The line is empty if it is code.
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

// address reports whether a line addresses SIA, by its command or by a mention, and returns the remaining text of the
// line.
func address(line, slug string) (args string, mention, ok bool) {
	if n := len(line); n > 2 && line[0] == '`' && line[n-1] == '`' { // copied with the backquotes around it
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

// meansCommand reports whether a word directly after "/sia" is a command, or a mistyped one: not "/siamese".
func meansCommand(joined string) bool {
	joined, _, _ = strings.Cut(strings.ToLower(joined), "+")
	near := text.Nearest(joined, names())
	return slices.Contains(names(), joined) || len(joined) > 3 && near != "" && near[0] == joined[0]
}

// withoutPolite returns args without leading polite words.
func withoutPolite(args string) string {
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

// withoutTail returns the argument of a command that takes no text, without trailing words such as "please" or "now".
func withoutTail(arg string) string {
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

// cutFold is [strings.CutPrefix] without regard to case. The prefix is ASCII.
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

// noCommand returns the problem that there is no command of a name, with the nearest command or the list of commands.
func noCommand(name string) string {
	problem := "there is no command `" + strings.ReplaceAll(text.Clip(text.OneLine(name), 60), "`", "") + "`; "
	if near := text.Nearest(name, names()); near != "" {
		return problem + "did you mean `/sia " + near + "`? `/sia help` lists them all"
	}
	return problem + "there are `" + strings.Join(names(), "`, `") + "`, and `/sia help` says what each does"
}
