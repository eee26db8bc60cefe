package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Bounds of a session on a page. The transcript on the memory branch, or `sia task transcript`, is complete.
const (
	shownSession = 8000 // lines of all calls
	shownCall    = 400  // lines of one call
	shownOutput  = 8000 // bytes of one result
	shownWords   = 8000 // bytes of one text of the model
	foldedOver   = 24   // outputs with more lines are folded
)

// turnView is a turn of a session for display.
type turnView struct {
	ID     string // the turn's id on the page
	Number int
	Run    int // number of the run that begins with it, if there are several; else 0
	At     time.Time
	Took   string
	Cost   sia.Credits
	Kind   agent.TurnKind
	Words  template.HTML // the model's
	Text   string        // of a brief or an end
	Calls  []callView
	Notes  []string
}

// callView is a tool's call for display.
type callView struct {
	ID     string // of a fold, so that an open page keeps its state
	Form   string // diff, term (a command), look (changes nothing) or words
	Does   string // such as Edited
	What   string // such as a path
	Took   string
	Failed bool
	Lines  []lineView // of a diff
	Output string
	Long   bool   // Output is folded
	Count  string // of its lines
	Words  template.HTML
}

// Mark shows how a command ended.
func (c callView) Mark() template.HTML {
	if c.Failed {
		return badMark.Mark()
	}
	return goodMark.Mark()
}

// Added counts the added lines, and Deleted the removed ones.
func (c callView) Added() int   { return c.lines("add") }
func (c callView) Deleted() int { return c.lines("del") }

func (c callView) lines(class string) (n int) {
	for _, l := range c.Lines {
		if l.Class == class {
			n++
		}
	}
	return n
}

// session returns the turns of an attempt for display. Turns are already masked.
func session(turns []agent.Turn, began time.Time) []turnView {
	out := make([]turnView, len(turns))
	left := shownSession
	for i, t := range turns {
		v := &out[i]
		*v = turnView{ID: turnID(t), Number: t.Number, At: t.At, Cost: t.Cost, Kind: t.Kind}
		if t.Kind == agent.TurnModel {
			v.Words = renderWords(t.Text)
		} else {
			v.Text = output(t.Text)
		}
		if t.Kind == agent.TurnBrief {
			v.Run = t.Run
		}
		if !began.IsZero() && t.At.After(began) && t.Kind == agent.TurnModel {
			v.Took = lasted(t.At.Sub(began))
		}
		began = t.At
		for j, c := range t.Calls {
			call := callOf(c, &left)
			call.ID = fmt.Sprintf("%s-call-%d", v.ID, j+1)
			v.Calls = append(v.Calls, call)
		}
		for note := range strings.SplitSeq(t.Note, "\n") {
			if note != "" {
				v.Notes = append(v.Notes, cleanLine(note, shownLine))
			}
		}
	}
	return out
}

// again is a second copy of a turn on the page.
func (t turnView) again() *turnView {
	t.Calls = slices.Clone(t.Calls)
	for i := range t.Calls {
		t.Calls[i].ID = "now-" + t.Calls[i].ID
	}
	return &t
}

// turnID is the id of a turn on a page.
func turnID(t agent.Turn) string {
	id := fmt.Sprintf("turn-%d", t.Number)
	switch {
	case t.Kind == agent.TurnBrief && t.Number > 0: // further instructions
		id = fmt.Sprintf("%s-%d", t.Kind, t.Number)
	case t.Kind != agent.TurnModel:
		id = string(t.Kind)
	}
	if t.Run > 0 {
		id = fmt.Sprintf("run-%d-%s", t.Run, id)
	}
	return id
}

// callArgs are the arguments of known agents' tools, SIA's and others'.
type callArgs struct {
	Path      string          `json:"path"`
	FilePath  string          `json:"file_path"`
	FilePath2 string          `json:"filePath"`
	Command   json.RawMessage `json:"command"`
	Old       string          `json:"old"`
	New       string          `json:"new"`
	Old2      string          `json:"old_string"`
	New2      string          `json:"new_string"`
	Old3      string          `json:"oldString"`
	New3      string          `json:"newString"`
	Edits     []callArgs      `json:"edits"`
	Content   *string         `json:"content"`
	Patch     string          `json:"patch"`
	Pattern   string          `json:"pattern"`
	Start     int             `json:"start"`
	Lines     int             `json:"lines"`
	Summary   string          `json:"summary"`
	Question  string          `json:"question"`
	Steps     []struct{ Do, Status string }
}

func (a callArgs) path() string { return strings.TrimSpace(a.Path + a.FilePath + a.FilePath2) }
func (a callArgs) old() string  { return a.Old + a.Old2 + a.Old3 }
func (a callArgs) new() string  { return a.New + a.New2 + a.New3 }

// command is a shell's command line, which agents pass as text or as a list of words.
func (a callArgs) command() string {
	var line string
	var words []string
	switch {
	case json.Unmarshal(a.Command, &line) == nil:
		return line
	case json.Unmarshal(a.Command, &words) == nil:
		return strings.Join(words, " ")
	}
	return ""
}

// notZero matches the first line of SIA's tools for a command with an exit status other than 0.
var notZero = regexp.MustCompile(`^(exit status [1-9]|signal|stopped:|killed|The tests fail)`)

// does describes what a tool that changes nothing did.
var does = map[string]string{tool.NameRead: "Read", tool.NameList: "Listed", tool.NameOutline: "Outlined",
	tool.NameSearch: "Searched for", tool.NameFailure: "Looked at the failure", "Read": "Read", "Grep": "Searched for",
	"Glob": "Listed", "LS": "Listed", "grep": "Searched for", "glob": "Listed"}

// callOf is a call for display with at most *left lines, which it subtracts.
func callOf(c agent.Call, left *int) callView {
	var a callArgs
	isJSON := json.Unmarshal([]byte(c.Arguments), &a) == nil
	v := callView{Failed: c.IsError, Output: output(c.Result)}
	if c.Took > 0 {
		v.Took = lasted(c.Took)
	}
	command := a.command()
	if !isJSON && c.Name == "shell" {
		command = c.Arguments
	}
	var diff []string
	switch {
	case command != "":
		v.Form, v.What = "term", cleanText(command, shownWords)
		v.Failed = v.Failed || notZero.MatchString(c.Result)
	case c.Name == tool.NameTest:
		v.Form, v.What = "term", "(the repository's tests)"
		v.Failed = v.Failed || notZero.MatchString(c.Result)
	case a.Patch != "":
		v.Does, diff = "Patched", strings.Split(strings.TrimRight(a.Patch, "\n"), "\n")
		v.What = cleanLine(strings.Join(c.Changed, ", "), shownLine)
	case len(a.Edits) > 0 && a.path() != "":
		v.Does = "Edited"
		for _, e := range a.Edits {
			diff = append(append(diff, "@@"), replaced(e.old(), e.new())...)
		}
	case a.path() != "" && a.old()+a.new() != "":
		v.Does, diff = "Edited", replaced(a.old(), a.new())
	case a.path() != "" && a.Content != nil:
		v.Does, diff = "Wrote", replaced("", *a.Content)
	case c.Name == tool.NameDelete:
		v.Form, v.Does = "look", "Deleted"
	case a.Summary != "" || a.Question != "":
		v.Form, v.Does, v.Words = "words", text.Capital(c.Name), renderWords(a.Summary+a.Question)
	case len(a.Steps) > 0 && a.Steps[0].Do != "":
		v.Form, v.Does = "words", "Plan"
		v.Words = renderWords(steps(a))
	default:
		v.Form, v.Does = "look", does[c.Name]
		if v.Does == "" {
			v.Does, v.What = cleanLine(c.Name, 80), cleanLine(text.OneLine(c.Arguments), 200)
		}
	}
	if diff != nil {
		v.Form, v.Lines = "diff", diffLines(diff, left)
	}
	if v.What == "" {
		v.What = cleanLine(a.path(), shownLine)
		if a.Pattern != "" {
			v.What = strings.TrimSpace(cleanLine(a.Pattern, 200) + " " + v.What)
		}
		if a.Start > 1 || a.Lines > 0 && v.Does == "Read" {
			v.What += fmt.Sprintf(":%d", max(1, a.Start))
		}
	}
	if (v.Form == "diff" || v.Form == "words") && !v.Failed {
		v.Output = "" // it only reports success
	}
	if n := strings.Count(strings.TrimSpace(v.Output), "\n") + 1; v.Output != "" {
		if n > *left {
			v.Output, n = "[left out: the page is full]", 1
		}
		*left -= n
		v.Count, v.Long = text.Count(n, "line"), n > foldedOver
	}
	return v
}

// steps is a plan as a list.
func steps(a callArgs) string {
	var b strings.Builder
	for _, s := range a.Steps {
		sign := map[string]string{"done": "✓ ", "doing": "→ "}[s.Status]
		fmt.Fprintf(&b, "- %s%s\n", sign, text.OneLine(s.Do))
	}
	return b.String()
}

// replaced is an edit as the lines of a diff: common lines at the ends are context.
func replaced(old, fresh string) (diff []string) {
	cut := func(s string) []string {
		if s == "" {
			return nil
		}
		return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	}
	a, b := cut(old), cut(fresh)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	add := func(sign string, lines []string) {
		for _, l := range lines {
			diff = append(diff, sign+l)
		}
	}
	add(" ", a[:head])
	add("-", a[head:len(a)-tail])
	add("+", b[head:len(b)-tail])
	add(" ", a[len(a)-tail:])
	return diff
}

// diffLines are a diff's lines with their classes, at most *left, which it subtracts.
func diffLines(diff []string, left *int) (lines []lineView) {
	most := min(shownCall, *left)
	for i, l := range diff {
		if i >= most {
			lines = append(lines, lineView{"hunk", text.Count(len(diff)-i, "more line")})
			break
		}
		class := map[byte]string{'+': "add", '-': "del", '@': "hunk", '*': "hunk", 'd': "hunk"}[(l + " ")[0]]
		if strings.HasPrefix(l, "+++ ") || strings.HasPrefix(l, "--- ") {
			class = "hunk"
		}
		lines = append(lines, lineView{class, cleanLine(l, shownLine)})
	}
	*left -= len(lines)
	return lines
}

// output is a command's output, or other plain text: it keeps the end.
func output(s string) string {
	if over := len(s) - shownOutput; over > 0 {
		half := shownOutput / 3
		s = text.HeadOf(s, half) + "\n" + text.Fit(s, shownOutput-half, text.Tail)
	}
	return cleanText(strings.TrimRight(s, "\n"), shownOutput+200)
}

// cleanText is a text of several lines with invisible characters named.
func cleanText(s string, most int) string {
	lines := strings.Split(text.HeadOf(s, most), "\n")
	for i, l := range lines {
		lines[i] = cleanLine(l, 2*shownLine)
	}
	return strings.Join(lines, "\n")
}

// Models' words are Markdown without HTML, links and images: nothing that strangers made them write is fetched or
// linked, and no word is lost.
var (
	markdown = goldmark.New(goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewThematicBreakParser(), 200), util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400), util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800), util.Prioritized(parser.NewParagraphParser(), 1000)),
		parser.WithInlineParsers(util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewEmphasisParser(), 500)))))
	harmless = sync.OnceValue(func() *bluemonday.Policy {
		p := bluemonday.NewPolicy()
		p.AllowElements("p", "ul", "ol", "li", "em", "strong", "code", "pre", "blockquote", "hr", "br", "h1", "h2", "h3",
			"h4", "h5", "h6")
		return p
	})
	headings = regexp.MustCompile(`<(/?)h[1-6]>`)
)

// renderWords is a model's words as HTML.
func renderWords(words string) template.HTML {
	words = cleanText(strings.TrimSpace(words), shownWords)
	if words == "" {
		return ""
	}
	var b bytes.Buffer
	if err := markdown.Convert([]byte(words), &b); err != nil {
		return template.HTML("<p>" + template.HTMLEscapeString(words) + "</p>") //nolint:gosec // escaped
	}
	page := []byte(nameInvisible(harmless().Sanitize(b.String()))) // entities may have hidden invisible characters
	// Headings are reserved for the page.
	page = headings.ReplaceAllFunc(page, func(tag []byte) []byte {
		if tag[1] == '/' {
			return []byte("</strong></p>")
		}
		return []byte("<p><strong>")
	})
	return template.HTML(page) //nolint:gosec // sanitised here
}
