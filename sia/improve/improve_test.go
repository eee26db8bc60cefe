package improve_test

import (
	"context"
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia/improve"
	"github.com/sia-bot/sia/sim/scripted"
)

// files is an in-memory copy.
type files map[string]string

func (f files) Read(name string) (improve.File, error) {
	content, ok := f[name]
	return improve.File{Text: content, Absent: !ok}, nil
}

func (f files) Write(name string, file improve.File) error {
	if delete(f, name); !file.Absent {
		f[name] = file.Text
	}
	return nil
}

// parser parses one language, in which a file with an angle bracket is broken.
type parser struct{ files }

func (p parser) Check(_ context.Context, name string) (improve.Parse, error) {
	switch {
	case path.Ext(name) != ".js":
		return improve.Parse{Verdict: improve.NotChecked, Why: "no parser for " + path.Ext(name)}, nil
	case strings.Contains(p.files[name], "<"):
		return improve.Parse{Verdict: improve.Broken, Language: "JavaScript", Why: "there is a <"}, nil
	}
	return improve.Parse{Verdict: improve.Parses, Language: "JavaScript"}, nil
}

// masked masks one word.
func masked(s string) string { return strings.ReplaceAll(s, "hunter2hunter2", "[secret: password]") }

// engine returns an engine with a scripted model over HTTP.
func engine(t *testing.T, f files, window int, rules ...scripted.Rule) (*improve.Engine, *scripted.Server) {
	t.Helper()
	s, err := scripted.Start(scripted.Script{Rules: rules}, scripted.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	m, err := llm.New(llm.Config{BaseURL: s.URL, Model: "m", Window: window, MaxOutput: window / 4, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	e, err := improve.New(improve.Config{Author: m, Critic: m, Files: f, Checker: parser{f}, Mask: masked,
		Say: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	return e, s
}

func rule(system string, turns ...any) scripted.Rule {
	r := scripted.Rule{System: system}
	for _, turn := range turns {
		r.Turns = append(r.Turns, scripted.Answer{JSON: turn})
	}
	return r
}

func plan(file string) scripted.Rule {
	return rule("^You look for one improvement", map[string]any{"file": file, "goal": "Say more", "why": "It is short.",
		"how": "Add a line.", "nothing": false})
}

func whole(content string) map[string]any {
	return map[string]any{"content": content, "summary": "Done."}
}

func edits(pairs ...string) map[string]any {
	list := []map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, map[string]string{"old": pairs[i], "new": pairs[i+1]})
	}
	return map[string]any{"edits": list, "summary": "Done."}
}

const (
	writes = "Answer with the whole new content"
	edited = "So answer with edits"
	judges = "^You judge a change"
)

func good() scripted.Rule {
	return rule(judges, map[string]any{"score": 0.9, "reasons": []string{"Fine."}})
}

func one(name string) improve.Order {
	return improve.Order{Files: []string{name}, Cycles: 1, Threshold: .6}
}

// The part of a file that a model does not see is unchanged, and the note about it is correct.
func TestTruncated(t *testing.T) {
	head, rest := "first line\n"+strings.Repeat("a line like others\n", 800), strings.Repeat("the end\r\n", 3000)+
		"the very end\n"
	f := files{"notes.txt": head + rest}
	e, s := engine(t, f, 8000, plan("notes.txt"), rule(edited, edits("the very end", "THE END"), edits("a line", "b"),
		edits("first line", "the first line")), good())
	r, err := e.Run(t.Context(), one("notes.txt"))
	if err != nil || r.Ended != "" || f["notes.txt"] != "the "+head+rest {
		t.Fatalf("%v %+v\n%.200s", err, r, f["notes.txt"])
	}
	c := r.Cycles[0]
	if c.Way != improve.Edits || !c.Truncated() || c.ShownBytes < 2000 || c.FileBytes != len(head)+len(rest) {
		t.Errorf("%+v", c)
	}
	all := s.Requests()
	if got := all[0].User(); !strings.Contains(got, "too long to be shown whole") || strings.Contains(got, "the end") {
		t.Errorf("the analysis was shown %.300s", got)
	}
	if got := all[3].User(); !strings.Contains(got, "edit 1: old reaches into the part of the file that was not shown") ||
		!strings.Contains(got, "edit 1: old occurs more than once") {
		t.Errorf("the third try was told %.300s", got[max(0, len(got)-300):])
	}
	for i, q := range all {
		if n := llm.CountTokens(q.System() + q.User()); n > 8000-2000 {
			t.Errorf("call %d is of %d tokens", i+1, n)
		}
	}
}

// A secret reaches no model and is preserved by a change.
func TestSecretsStay(t *testing.T) {
	f := files{"app.ini": "password = hunter2hunter2\nport = 1\n"}
	e, s := engine(t, f, 32000, plan("app.ini"), rule(edited, edits("password = [secret: password]", "x"),
		edits("port = 1", "port = 1 # [secret: password]"), edits("port = 1", "port = 2")), good())
	o := one("app.ini")
	o.Context, o.Logs = "It is hunter2hunter2.", []improve.Log{{Name: "app.log", Text: "login hunter2hunter2\x1b[31m"}}
	r, err := e.Run(t.Context(), o)
	if err != nil || f["app.ini"] != "password = hunter2hunter2\nport = 2\n" {
		t.Fatalf("%v %+v %q", err, r, f)
	}
	for _, q := range s.Requests() {
		if strings.Contains(q.User(), "hunter2") || strings.Contains(q.User(), "\x1b") {
			t.Errorf("a model was shown %s", q.User())
		}
	}
}

// Earlier cycles are described in sentences, whether or not the goal ends with a full stop.
func TestPast(t *testing.T) {
	e, s := engine(t, files{"x.txt": "a\n"}, 32000, plan("x.txt"), rule(writes, whole("b\n")), good())
	o := one("x.txt")
	for _, goal := range []string{"Return the sum.", "Return the sum"} {
		o.Past = append(o.Past, improve.Cycle{File: "x.txt", Goal: goal, Outcome: improve.Reverted, Reason: "it is slower"})
	}
	if _, err := e.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got := s.Requests()[0].User(); strings.Count(got, "- x.txt: Return the sum. It was ") != 2 {
		t.Errorf("the analysis was shown %s", got)
	}
}

func TestWhole(t *testing.T) {
	for _, c := range []struct {
		name, before, answer, want string
	}{
		{"the last newline", "a\n", "a\nb", "a\nb\n"},
		{"no last newline", "a", "a\nb", "a\nb"},
		{"CRLF", "a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"},
		{"CRLF here and there", "a\r\nb\n", "a\nc\n", "a\nc\n"},
	} {
		f := files{"x.txt": c.before}
		e, _ := engine(t, f, 32000, plan("x.txt"), rule(writes, whole(c.answer)), good())
		if r, err := e.Run(t.Context(), one("x.txt")); err != nil || f["x.txt"] != c.want {
			t.Errorf("%s: %q, %v %+v", c.name, f["x.txt"], err, r)
		}
	}
}

// An implausible answer is requested again, with the reason.
func TestAskedAgain(t *testing.T) {
	for says, answer := range map[string]any{
		"it changes nothing":              whole("a\n"),
		"the file would be empty":         whole(" \n"),
		"no text":                         whole("a\x00b"),
		"leave such places alone":         whole("a [secret: x]\n"),
		"content is missing":              map[string]any{"summary": "Done."},
		`unknown field "thoughts"`:        map[string]any{"summary": "", "content": "x", "thoughts": ""},
		"cannot unmarshal array into Go ": map[string]any{"summary": []string{}, "content": "x"},
	} {
		f := files{"x.txt": "a\n"}
		e, s := engine(t, f, 32000, plan("x.txt"), rule(writes, answer, whole("b\n")), good())
		r, err := e.Run(t.Context(), one("x.txt"))
		if err != nil || f["x.txt"] != "b\n" || !strings.Contains(s.Requests()[2].User(), says) {
			t.Errorf("%q: %v %+v", says, err, r)
		}
	}
}

func TestParses(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		want                improve.ParseVerdict
	}{
		{"a.go", "package a\n", "package b\n", improve.Parses},
		{"a.go", "package a\n", "package b {\n", improve.Broken},
		{"a.json", "{}\n", "{\"a\": 1}\n", improve.Parses},
		{"a.json", "{}\n", "{} {}\n", improve.Broken},
		{"a.json", "{} // with words\n", "{\"a\": 1} // with words\n", improve.NotChecked},
		{"a.yml", "a: 1\n", "a: 1\n---\nb: 2\n", improve.Parses},
		{"a.yaml", "a: 1\n", "a: [1\n", improve.Broken},
		{"a.yml", "{{ template }}: {{\n", "{{ other }}: {{\n", improve.NotChecked},
		{"a.toml", "a = 1\n", "a = 2\n", improve.Parses},
		{"a.toml", "a = 1\n", "a = \n", improve.Broken},
		{"a.md", "# a\n", "# b\n", improve.Parses},
		{"Makefile", "a:\n", "b:\n", improve.NotChecked},
		{"a.js", "f()\n", "g()\n", improve.Parses},
		{"a.js", "f()\n", "f(<b/>)\n", improve.Broken},
		{"a.js", "f(<a/>)\n", "f(<b/>)\n", improve.NotChecked},
		{"a.js", "f(<a/>)\n", "f()\n", improve.Parses},
	} {
		f := files{c.name: c.before}
		e, s := engine(t, f, 32000, plan(c.name), rule(writes, whole(c.after)), good())
		r, err := e.Run(t.Context(), one(c.name))
		if err != nil || len(r.Cycles) != 1 || r.Cycles[0].Evaluation.Parse.Verdict != c.want {
			t.Errorf("%s %q: %v %+v", c.name, c.after, err, r)
			continue
		}
		if broken := c.want == improve.Broken; broken == (f[c.name] == c.after) || broken == (len(s.Requests()) == 3) {
			t.Errorf("%s %q: %q after %d calls", c.name, c.after, f[c.name], len(s.Requests()))
		}
	}
}

// The critic sees only the goal and the file before and after, not the analysis.
func TestCriticIsIndependent(t *testing.T) {
	e, s := engine(t, files{"x.txt": "a\n"}, 32000, plan("x.txt"), rule(writes, whole("b\n")), good())
	o := one("x.txt")
	o.Context, o.Logs = "the-context", []improve.Log{{Name: "x", Text: "the-log"}}
	if r, err := e.Run(t.Context(), o); err != nil || len(r.Changes) != 1 {
		t.Fatalf("%v %+v", err, r)
	}
	all := s.Requests()
	for _, words := range []string{"the-context", "the-log"} {
		if !strings.Contains(all[0].User(), words) || strings.Contains(all[2].User(), words) {
			t.Errorf("%s: analysis and critique see it wrongly", words)
		}
	}
	for _, words := range []string{"It is short.", "Add a line.", "Done."} {
		if strings.Contains(all[2].User(), words) {
			t.Errorf("the critic sees %q", words)
		}
	}
	for _, words := range []string{"Say more", "```text\na\n\n```", "```text\nb\n\n```"} {
		if !strings.Contains(all[2].User(), words) {
			t.Errorf("the critic does not see %q:\n%s", words, all[2].User())
		}
	}
}

func TestOrderAndEnd(t *testing.T) {
	e, _ := engine(t, files{}, 32000, plan("x.txt"))
	for _, o := range []improve.Order{{}, {Files: []string{"a"}}, {Files: []string{"a"}, Cycles: 21},
		{Files: []string{"a"}, Cycles: 1, Threshold: 2}} {
		if _, err := e.Run(t.Context(), o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	r, err := e.Run(ctx, one("x.txt"))
	if !errors.Is(err, stopped) || len(r.Cycles) != 1 || r.Cycles[0].Outcome != improve.Failed {
		t.Errorf("%v %+v", err, r)
	}
	if _, err := improve.New(improve.Config{}); err == nil {
		t.Error("an engine without a model was made")
	}
}
