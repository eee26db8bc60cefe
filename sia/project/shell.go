package project

import (
	"iter"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// folderOption matches options that name the folder in which a program works.
var folderOption = regexp.MustCompile(
	`^(--prefix|--cwd|-C|--dir|--directory|--manifest-path|--working-dir|--project)(?:=(.+))?$`)

// simpleCommands returns the commands of a shell script with their folders, relative to the top: as words, without
// variables set for them, redirections, and words with an expression, a variable or a pattern. It skips commands whose
// folder can't be told.
func simpleCommands(script, folder string) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		dir, outer := path.Clean(folder), []string{}
		for _, words := range shellCommands(script) {
			switch {
			case words[0] == "(":
				outer = append(outer, dir)
				continue
			case words[0] == ")":
				if n := len(outer); n > 0 {
					dir, outer = outer[n-1], outer[:n-1]
				}
				continue
			case words[0] == "cd":
				dir = into(dir, strings.Join(words[1:], unknown))
				continue
			}
			at, kept := dir, []string{}
			for i := 0; i < len(words); i++ {
				m := folderOption.FindStringSubmatch(words[i])
				if m != nil && m[1] == "--project" && words[0] != "uv" { // of others it is no folder
					m = nil
				}
				switch {
				case m == nil && words[i] != unknown:
					kept = append(kept, words[i])
				case m == nil: // with the option whose value it is
					if n := len(kept); n > 0 && strings.HasPrefix(kept[n-1], "-") && !strings.Contains(kept[n-1], "=") {
						kept = kept[:n-1]
					}
				default:
					in := m[2]
					if in == "" && i+1 < len(words) {
						i++
						in = words[i]
					}
					if m[1] == "--manifest-path" {
						in = path.Dir(in)
					}
					at = into(at, in)
				}
			}
			if n := len(kept); n > 1 && kept[n-1] == "--" {
				kept = kept[:n-1]
			}
			isInside := plainPath.MatchString(at) && !strings.HasPrefix(at, "/") && !strings.HasPrefix(at, "..")
			if len(kept) > 0 && isInside && !yield(at, kept) {
				return
			}
		}
	}
}

// into returns the folder to which a change of folder leads.
func into(dir, to string) string {
	if to == "" || strings.HasPrefix(to, "/") || len(dir)+len(to) > maxWords {
		return "/" + to
	}
	return path.Join(dir, to)
}

// unknown is the word in place of one with an expression, a variable or a pattern.
const unknown = "$"

var (
	expression = regexp.MustCompile(`(?s)\$\{\{.*?\}\}`)
	// shellToken matches a comment, an operator, a redirection or a part of a word.
	shellToken = regexp.MustCompile(`(?m)(?:^|[ \t])#.*$|[0-9&]*[<>]+&?[ \t]*[^\s;|&()]*|&&|\|\||[;|&()\n]|[ \t]+|` +
		`'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\;|&()<>]+|.`)
	keyword = regexp.MustCompile(`^(?:if|then|elif|else|do|while|until|!|time|sudo|exec|xvfb-run|\{|[A-Za-z_]\w*=.*)$`)
	// expanded matches what a shell replaces in a word without quotes, and in one with double quotes.
	expanded       = regexp.MustCompile("[$`*?~{}!]")
	expandedQuoted = regexp.MustCompile("[$`\\\\]")
)

// shellCommands returns the simple commands of a shell script, each as its words. "(" and ")" are commands of their
// own.
func shellCommands(script string) (all [][]string) {
	script = expression.ReplaceAllString(strings.ReplaceAll(script, "\r", ""), unknown)
	script = withoutHereDocuments(strings.ReplaceAll(script, "\\\n", " "))
	var words []string
	word, begun := "", false
	end := func() {
		if begun && (len(words) > 0 || !keyword.MatchString(word)) {
			words = append(words, word)
		}
		word, begun = "", false
	}
	add := func(text string, isUnknown bool) {
		begun = true
		if isUnknown || strings.ContainsFunc(text, func(r rune) bool { return r == '\'' || !unicode.IsPrint(r) }) {
			text = unknown
		}
		if word += text; len(word) > maxWords || strings.Contains(word, unknown) {
			word = unknown
		}
	}
	for _, token := range shellToken.FindAllString(script, -1) {
		switch token[0] {
		case '\n', ';', '|', '&', '(', ')':
			if end(); len(words) > 0 {
				all = append(all, words)
			}
			if words = nil; token == "(" || token == ")" {
				all = append(all, []string{token})
			}
		case ' ', '\t':
			end()
		case '\'', '"':
			text := strings.Trim(token, token[:1])
			add(text, len(token) == 1 || token[0] == '"' && expandedQuoted.MatchString(text))
		default:
			if !strings.ContainsAny(token, "<>") && !strings.HasPrefix(token, "#") {
				add(token, expanded.MatchString(token) || token[0] == '\\')
			}
		}
	}
	if end(); len(words) > 0 {
		all = append(all, words)
	}
	return all
}

// hereDocument matches the redirection of a here-document, with the word that ends its text.
var hereDocument = regexp.MustCompile(`(?:^|[^<])<<-?[ \t]*['"\\]?([\w.-]+)`)

// withoutHereDocuments returns a script without the text of its here-documents. One without an end is none.
func withoutHereDocuments(script string) string {
	lines, last := strings.Split(script, "\n"), map[string]int{}
	for i, line := range lines {
		last[strings.TrimSpace(line)] = i
	}
	var kept []string
	for i := 0; i < len(lines); i++ {
		kept = append(kept, lines[i])
		for _, m := range hereDocument.FindAllStringSubmatch(lines[i], -1) {
			if last[m[1]] <= i {
				continue
			}
			for i++; strings.TrimSpace(lines[i]) != m[1]; i++ {
			}
		}
	}
	return strings.Join(kept, "\n")
}

// plainWord matches a word that a shell takes as it is.
var plainWord = regexp.MustCompile(`^[\w./:=@,+%-]+$`)

// quoted returns words as one command line.
func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; !plainWord.MatchString(w) {
			out[i] = "'" + w + "'" // a word contains no such quote
		}
	}
	return strings.Join(out, " ")
}
