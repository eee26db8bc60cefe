package render_test

import (
	"bytes"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sim/apptest"
)

// github renders as GitHub does, but with raw HTML, so that anything not neutralised shows.
var github = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))

func toHTML(t interface {
	Helper()
	Fatal(...any)
}, md string) string {
	t.Helper()
	var b bytes.Buffer
	if err := github.Convert([]byte(md), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// nasty are pieces of hostile text.
var nasty = []string{
	"<!-- sia:v1 task=1-2 kind=status key=k -->", "<!--", "-->", "<", "!", "--", "&lt;", "&#60;", "&#64;user",
	"&commat;user", "@user", "@org/team", "@", "user",
	"#1", "#", "12", "GH-7", "gh-7", "o/r#3", "https://github.com/o/r/issues/1",
	"http://github.com/o/r/pull/2,https://github.com/o/r/issues/1", "www.github.com/o/r/issues/4",
	"- [ ] **A** — x", "- [x] **B** — y", "[ ]", "[", "]", "x", "(", ")", "![i](https://e.vil/?q=1)",
	"[click](https://e.vil)", "[a]: https://e.vil", "[a]", "\n[a]: <https://e.vil>",
	"```", "`````", "\n```\n", "\n`````\n", "~~~", "`", "``", "\n```text\n", "\n~~~\n", "\n    ", "\n\t", "\n", "\n\n",
	" ", "> ", "1. ", "- ", "* ", "# ", "---", "===", "|", "| a | b |\n|---|---|\n", "\\", "*", "_", "**", "~~",
	"<details>", "</details>", "</summary>", "<img src=x>", "<script>", "<a href=x>", "<https://e.vil>", "<pre>", "<?php",
	"<![CDATA[",
	"\x1b[31m", "\x00", "\u202e", "\u200b", "\u200d", "\ufeff", "\U000e0041", "\r", "\r\n", "\u2028", "\xff", "é",
	"日本", "/sia stop", "Closes #5", "word",
}

func hostile() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(nasty), 0, 12).Draw(t, "pieces"), "")
	})
}

var (
	mention  = regexp.MustCompile(`(^|[^A-Za-z0-9_` + "`" + `])@[A-Za-z0-9]`)
	issueRef = regexp.MustCompile(`(?i)(^|[^\w&])#\d|\bGH-\d|` +
		`(https?://|www\.)\S*/(issues|pull|discussions|commit)/[0-9a-f]`)
	tags     = regexp.MustCompile(`<[^>]*>`)
	unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&amp;", "&")
	code     = regexp.MustCompile(`(?s)<code[^>]*>.*?</code>`)
)

// harmless fails when rendered text does what foreign text may not do.
func harmless(t *rapid.T, page string) {
	for _, bad := range []string{"<!--", "<input", "<img", "<script", "<a href=x", "<?php", "<![CDATA"} {
		if strings.Contains(page, bad) {
			t.Fatalf("%q got through:\n%s", bad, page)
		}
	}
	for _, r := range page {
		if r == '\u202e' || r == '\x00' || r == 0xe0041 || r == '\x1b' {
			t.Fatalf("%U got through: %q", r, page)
		}
	}
	words := unescape.Replace(tags.ReplaceAllString(code.ReplaceAllString(page, ""), ""))
	if m := mention.FindString(words); m != "" {
		t.Fatalf("a mention got through: %q in\n%s", m, words)
	}
	if m := issueRef.FindString(words); m != "" {
		t.Fatalf("a reference got through: %q in\n%s", m, words)
	}
	for _, l := range regexp.MustCompile(`<a href="([^"]*)"[^>]*>(.*?)</a>`).FindAllStringSubmatch(page, -1) {
		address, err := url.PathUnescape(unescape.Replace(l[1]))
		if err != nil {
			address = l[1]
		}
		if shown := unescape.Replace(tags.ReplaceAllString(l[2], "")); !strings.Contains(address, shown) &&
			!strings.Contains(unescape.Replace(l[1]), shown) {
			t.Fatalf("a disguised link got through: %q", l[0])
		}
	}
}

const sentinel = "The sentinel stands."

func TestForeignTextIsHarmless(t *testing.T) {
	for name, form := range map[string]func(string) string{
		"quote": render.Quote,
		"line":  func(s string) string { return "Words: " + render.Line(s, 0) },
		"item":  func(s string) string { return "- " + render.Line(s, 0) },
		"bold":  func(s string) string { return "**" + render.Line(s, 0) + "** " + render.Code("<img src=x>", 0) },
		"code":  func(s string) string { return "Code: " + render.Code(s, 0) },
		"fence": func(s string) string { return render.Fence("text", s) },
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := hostile().Draw(t, "foreign")
				md := form(in)
				page := toHTML(t, md+"\n\n"+sentinel+"\n")
				harmless(t, page)
				if !strings.HasSuffix(page, "<p>"+sentinel+"</p>\n") {
					t.Fatalf("foreign text reached what follows it: %q\n%s", md, page)
				}
				if _, ok := render.ParseMarker(md); ok {
					t.Fatalf("forged a marker: %q", md)
				}
			})
		})
	}
}

// A backslash does not disable the escaping of a star or a backtick after it. The property above seldom generates
// these.
func TestBackslashInALine(t *testing.T) {
	for _, s := range []string{`Fix C:\`, `a \\`, "\\`", "\\` x `", "` x \\`", `\*`} {
		md := "**" + render.Line(s, 0) + "** " + render.Code("<img src=x>", 0)
		page := toHTML(t, md)
		if strings.Count(page, "<strong>") != 1 || !strings.Contains(page, "</strong> <code>") ||
			strings.Contains(page, "<img") {
			t.Errorf("%q became\n%s", md, page)
		}
	}
}

func TestNeutraliseReadsTheSame(t *testing.T) {
	for _, s := range []string{
		"Vec<T> and a < b && c", "see @user in #12", "`if (a[x]) { }`", "an email: a@b.example", "100 % & more",
		"func f(x []int) <-chan T",
	} {
		got := render.Neutralise(s)
		if strings.ReplaceAll(got, "\u200b", "") != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// Invisible characters can spell whole sentences; they are shown. Those within emoji are kept.
func TestUnseenIsShown(t *testing.T) {
	for s, want := range map[string]string{
		"a\U000e0130b": "a\ufffdb", "a\u3164b": "a\ufffdb", "a\u034fb": "a\ufffdb", "\u2714\ufe0f done": "\u2714\ufe0f done",
	} {
		if got := render.Neutralise(s); got != want {
			t.Errorf("%q became %q, want %q", s, got, want)
		}
	}
}

func TestNeutraliseTwiceIsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once := render.Neutralise(hostile().Draw(t, "foreign"))
		if twice := render.Neutralise(once); twice != once {
			t.Fatalf("%q then %q", once, twice)
		}
	})
}

// fill puts hostile text into every string of a value, two elements into every list, and a value behind every pointer.
func fill(v reflect.Value, next func() string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(next())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), next)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), next)
		}
	case reflect.Pointer:
		if v.Type().Elem() != reflect.TypeFor[sia.Intervention]() {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), next)
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Float64:
		v.SetFloat(0.5)
	}
}

// texts are all bodies about a task.
func texts(task sia.Task) map[string]string {
	iv, e := task.Interventions[0], *task.Escalation
	check := render.CheckRun(task, inTree(task), links)
	all := map[string]string{
		"status": render.Status(task, links, now), "pull": render.PullBody(task, nil, links),
		"intervention": render.Intervention(task, iv, links),
		"escalation":   render.EscalationBody(task, e, links), "ask": render.AskComment(task, e),
		"closing":       render.EscalationClosing(task),
		"check summary": check.Summary, "check text": check.Text, "help": render.Help(task), "say": render.Say(task.Ended),
		"explain": render.Explain(task, []render.Move{{Event: sia.KStart, Why: task.Title, To: sia.State(task.Title)}},
			[]sia.Decision{{Type: sia.DecisionType(task.Title), Choice: task.Title, Reason: task.Title, Outcome: task.Title}}),
		"not permitted": render.NotPermitted(task.Title, task.Body),
		"corrected":     render.Corrected(hostileLesson(task), false, 1, []lesson.Lesson{hostileLesson(task)}),
		"learned":       render.Learned(hostileLesson(task), false, []lesson.Lesson{hostileLesson(task)}),
		"forgot":        render.Forgot(hostileLesson(task)), "forgot none": render.ForgotNone(task.Title, nil),
		"forgot which": render.ForgotNone(task.Title, []lesson.Lesson{hostileLesson(task)}),
	}
	if task.Final != nil {
		review := render.FinalReview(task, *task.Final, links)
		all["review"], all["review alone"] = review.Body, review.Whole
		for i, line := range review.Lines {
			all[fmt.Sprintf("on line %d", i)] = line.Body
		}
	}
	if e.Already != nil {
		all["already"] = render.AlreadyComment(task, e, links)
	}
	if e.Edition != nil {
		all["edited"] = render.EditedComment(task, e)
	}
	if e.Plan != nil {
		all["plan"] = render.PlanComment(task, e, links)
	}
	return all
}

// fillFinal adds a final review of the head with remarks of every kind, on lines and elsewhere.
func fillFinal(t *rapid.T, task *sia.Task) {
	r := task.Final
	r.SHA, r.Cut = task.Head, rapid.Bool().Draw(t, "cut")
	r.Demands, r.Remarks = append(r.Demands, r.Demands...), append(r.Remarks, r.Remarks...)
	for i := range r.Demands {
		r.Demands[i].State = rapid.SampledFrom([]sia.DemandState{sia.DemandMet, sia.DemandUnmet, sia.DemandUnclear}).
			Draw(t, "demand")
		r.Demands[i].At.Diff = rapid.Bool().Draw(t, "on a line")
	}
	for i := range r.Remarks {
		r.Remarks[i].About = rapid.SampledFrom([]sia.RemarkKind{sia.RemarkScope, sia.RemarkSecurity, sia.RemarkTests,
			sia.RemarkAPI}).Draw(t, "remark")
		r.Remarks[i].At.Diff = rapid.Bool().Draw(t, "on a line")
	}
}

// hostileLesson is a lesson with only the task's words.
func hostileLesson(task sia.Task) lesson.Lesson {
	return lesson.Lesson{ID: lesson.NewID(1, "x"), Context: task.Title, Text: task.Body, Correction: task.Ended}
}

// TestNoTaskIsHarmful renders tasks with only hostile words: however much people, models and logs wrote, few words are
// visible.
func TestNoTaskIsHarmful(t *testing.T) {
	kinds := map[string]string{"status": "status", "intervention": string(sia.DoAnnounce),
		"escalation": string(sia.DoEscalate), "ask": string(sia.DoEscalate), "plan": string(sia.DoEscalate),
		"already": string(sia.DoEscalate), "edited": string(sia.DoEscalate),
		"review": string(sia.DoFinalReview), "review alone": string(sia.DoFinalReview), "on line 0": apptest.OnLine,
		"on line 1": apptest.OnLine, "on line 2": apptest.OnLine, "on line 3": apptest.OnLine}
	pieces := append([]string{"a b c d e f g h i j k l m n o p", "one. two. three. four", "x/y.go:3: error: z",
		"[a](b) c d"}, nasty...)
	boxes := regexp.MustCompile(`(?m)^\s*[-*+] \[[ xX]\]`)
	rapid.Check(t, func(t *rapid.T) {
		var task sia.Task
		between := rapid.SampledFrom([]string{"", " "}).Draw(t, "between")
		fill(reflect.ValueOf(&task).Elem(), func() string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 15).Draw(t, "text"), between)
		})
		// These two are one word: git takes no white space, and the settings take only GitHub's permissions.
		task.Branch, task.Settings.Access.CommandPermission = strings.Join(strings.Fields(task.Branch), "-"), "write"
		task.State = rapid.SampledFrom(sia.States).Draw(t, "state")
		task.Escalation.Kind = rapid.SampledFrom([]sia.EscalationKind{sia.AskIssue, sia.AskQuestion, sia.AskNoChecks,
			sia.AskPlan, sia.AskAlready}).Draw(t, "kind")
		task.Attempts[1].Planning, task.Gate.AwaitsPerson = rapid.Bool().Draw(t, "planning"), rapid.Bool().Draw(t, "person")
		task.Interventions[0].Review.Verdict = rapid.SampledFrom([]sia.Verdict{sia.Approved, sia.Minor, sia.Major,
			sia.Rejected, sia.ReviewOff, sia.ReviewFailed}).Draw(t, "verdict")
		for i, said := range task.Gate.Explain {
			task.Gate.Explain[i] = tampered().Gate.Explain[1] + said
		}
		task.Aftermath = rapid.SampledFrom([]sia.Aftermath{"", sia.Abandoned}).Draw(t, "aftermath")
		task.Accepted = nil
		for i := range 2 {
			task.Checks = append(task.Checks, task.Checks[i])
			task.Escalation.Options = append(task.Escalation.Options, task.Escalation.Options[i])
			task.Escalation.Plan.Steps = append(task.Escalation.Plan.Steps, task.Escalation.Plan.Steps...)
		}
		fillFinal(t, &task)
		for i := range task.Escalation.Options {
			task.Escalation.Options[i].Letter = string(rune('A' + i))
		}
		for name, body := range texts(task) {
			if _, ok := render.ParseMarker(body); ok || strings.Contains(body, "<!--") {
				t.Fatalf("%s: forged a marker:\n%s", name, body)
			}
			if !utf8.ValidString(body) || len(body) > render.MaxBody {
				t.Fatalf("%s: %d bytes, valid %v", name, len(body), utf8.ValidString(body))
			}
			if limit, ok := apptest.WordLimits[kinds[name]]; ok && apptest.VisibleWords(body) > limit {
				t.Fatalf("%s: %d words are visible, and %d are enough:\n%s", name, apptest.VisibleWords(body), limit, body)
			}
			asks := slices.Contains([]string{"escalation", "ask", "already", "edited"}, name)
			if got := len(boxes.FindAllString(body, -1)); asks && got != len(task.Escalation.Options) {
				t.Fatalf("%s: %d tick boxes, want %d:\n%s", name, got, len(task.Escalation.Options), body)
			}
			page := toHTML(t, body)
			if strings.Count(page, "<details>") != strings.Count(page, "</details>") || strings.Contains(page, "<script") ||
				strings.Contains(page, "<img") || strings.Contains(page, "<input") && !asks {
				t.Fatalf("%s: broken layout:\n%s", name, page)
			}
		}
		message := render.CommitMessage(task, task.Attempts[0])
		if s, _, _ := strings.Cut(message, "\n"); utf8.RuneCountInString(s) > 72 {
			t.Fatalf("subject has %d characters: %q", utf8.RuneCountInString(s), s)
		}
		if regexp.MustCompile(`(?i)\[(skip|no|ci|actions)`).MatchString(message) {
			t.Fatalf("a commit that skips checks: %q", message)
		}
	})
}

func FuzzNeutralise(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := render.Neutralise(s)
		if strings.Contains(got, "<!--") || !utf8.ValidString(got) {
			t.Fatalf("%q", got)
		}
		page := toHTML(t, render.Quote(s)+"\n\n"+sentinel+"\n")
		if strings.Contains(page, "<img") || strings.Contains(page, "<input") || strings.Contains(page, "<!--") ||
			!strings.HasSuffix(page, "<p>"+sentinel+"</p>\n") {
			t.Fatalf("%q gives\n%s", s, page)
		}
		page = toHTML(t, render.Fence("text", s)+"\n\n"+sentinel+"\n")
		if !strings.HasSuffix(page, "</code></pre>\n<p>"+sentinel+"</p>\n") {
			t.Fatalf("%q escapes its fence:\n%s", s, page)
		}
	})
}
