package command

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
)

func TestParse(t *testing.T) {
	all := "there are `start`, `stop`, `pause`, `resume`, `retry`, `use`, `answer`, `go`, `accept-tests`, `learn`, " +
		"`forget`, `wrong`, `explain`, `status`, `spent`, `help`, and `/sia help` says what each does"
	for _, c := range []struct {
		body string
		ok   bool
		want Parsed
	}{
		{"nothing to do with it", false, Parsed{}},
		{"please /sia stop", false, Parsed{}},
		{"/sia stop", true, Parsed{Fact: sia.Stop{}}},
		{"\n  /SIA Stop now please\nmore", true, Parsed{Fact: sia.Stop{}}},
		{"/siastop", true, Parsed{Fact: sia.Stop{}}},
		{"/SIAstart keep the API", true, Parsed{Fact: sia.Start{Text: "keep the API"}}},
		{"/siamese cats", false, Parsed{}},
		{"/sia resume +50", true, Parsed{Fact: sia.Resume{Credits: 50 * sia.Credit}}},
		{"/sia pause all", true, Parsed{Fact: sia.PauseAsked{Scope: Here}}},
		{"/sia pause ALL, please", true, Parsed{Fact: sia.PauseAsked{Scope: Here}}},
		{"/sia pause now", true, Parsed{Fact: sia.PauseAsked{}}},
		{"@sia-bot resume all", true, Parsed{Fact: sia.Resume{Scope: Here}}},
		{"/sia resume much", true, Parsed{Problem: "credits \"much\": want a positive number such as 50, at most 1000000; " +
			"write for example `/sia resume +50`"}},
		{"/sia start but\nkeep the API", true, Parsed{Fact: sia.Start{Text: "but\nkeep the API"}}},
		{"/sia start anyway", true, Parsed{Fact: sia.Start{Anyway: true}}},
		{"/sia start Anyway, but\nkeep the API", true, Parsed{Fact: sia.Start{Anyway: true, Text: "but\nkeep the API"}}},
		{"/sia start anyways", true, Parsed{Fact: sia.Start{Text: "anyways"}}},
		{"/sia resume +50 all", true, Parsed{Fact: sia.Resume{Credits: 50 * sia.Credit, Scope: Here}}},
		{"/sia resume all +50, please", true, Parsed{Fact: sia.Resume{Credits: 50 * sia.Credit, Scope: Here}}},
		{"@sia-bot resume +50 all", true, Parsed{Fact: sia.Resume{Credits: 50 * sia.Credit, Scope: Here}}},
		{"/sia resume+50", true, Parsed{Fact: sia.Resume{Credits: 50 * sia.Credit}}},
		{"/siaresume+50", true, Parsed{Fact: sia.Resume{Credits: 50 * sia.Credit}}},
		{"/sia resume all of it", true, Parsed{Fact: sia.Resume{Scope: Here}}},
		{"@sia-bot resume all of it", true, Parsed{Fact: sia.AnswerGiven{Text: "resume all of it"}, Words: "resume"}},
		{"/sia c++ is fine", true, Parsed{Problem: "there is no command `c++`; " + all}},
		{"/sia use Context  pruning, please", true, Parsed{Fact: sia.Use{Technique: "context pruning"}}},
		{"/sia use Fresh-Start", true, Parsed{Fact: sia.Use{Technique: sia.FreshStart}}},
		{"/sia answer", true, Parsed{Problem: "say what the answer is, for example `/sia answer A`"}},
		{"/sia spent", true, Parsed{Fact: sia.Query{Topic: "spent"}, Open: true}},
		{"/sia", true, Parsed{Fact: sia.Query{Topic: "help"}, Open: true}},
		{"/sia stpo", true, Parsed{Problem: "there is no command `stpo`; did you mean `/sia stop`? `/sia help` lists them " +
			"all"}},
		{"/sia foo", true, Parsed{Problem: "there is no command `foo`; " + all}},
		{"/sia merge", true, Parsed{Problem: "there is no command `merge`; " + all}},
		{"/sia retyr", true, Parsed{Problem: "there is no command `retyr`; did you mean `/sia retry`? `/sia help` lists " +
			"them all"}},
		{"/sia go", true, Parsed{Fact: sia.Approve{}}},
		{"@sia-bot go", true, Parsed{Fact: sia.Approve{}}},
		{"@sia-bot go ahead", true, Parsed{Fact: sia.AnswerGiven{Text: "go ahead"}}},
		{"/sia:stop", true, Parsed{Fact: sia.Stop{}}},
		{"/sia-resume +50", true, Parsed{Fact: sia.Resume{Credits: 50 * sia.Credit}}},
		{"/sia: stop", true, Parsed{Fact: sia.Stop{}}},
		{"`/sia status`", true, Parsed{Fact: sia.Query{Topic: "status"}, Open: true}},
		{"/sia status?", true, Parsed{Fact: sia.Query{Topic: "status"}, Open: true}},
		{"/sia please stop!", true, Parsed{Fact: sia.Stop{}}},
		{"/siastaus", true, Parsed{Problem: "there is no command `staus`; did you mean `/sia status`? `/sia help` lists " +
			"them all"}},
		{"/sia:statsu now", true, Parsed{Problem: "there is no command `statsu`; did you mean `/sia status`? `/sia help` " +
			"lists them all"}},
		{"/sia/stop is an endpoint", false, Parsed{}},
		{"@sia stop", true, Parsed{Fact: sia.Stop{}}},
		{"@sia-bot[bot] stop", true, Parsed{Fact: sia.Stop{}}},
		{"Hey @SIA, could you please retry?", true, Parsed{Fact: sia.Retry{}}},
		{"@sia please", true, Parsed{Fact: sia.AnswerGiven{Text: "please"}, Words: NoneMeant}},
		{"@sia", true, Parsed{Fact: sia.Query{Topic: "help"}, Open: true}},
		{"@sia statsu?", true, Parsed{Fact: sia.AnswerGiven{Text: "statsu?"}, Words: "status"}},
		{"@sia don't stop", true, Parsed{Fact: sia.AnswerGiven{Text: "don't stop"}, Words: NoneMeant}},
		{"Hey you, stop", false, Parsed{}},
		{"@siandra stop", false, Parsed{}},
		{"/sia go\nbut leave out step 3", true, Parsed{Fact: sia.AnswerGiven{Text: "go but leave out step 3"}}},
		{"@sia-bot stop", true, Parsed{Fact: sia.Stop{}}},
		{"@sia-bot, use Google only", true, Parsed{Fact: sia.AnswerGiven{Text: "use Google only"}, Words: "use"}},
		{"@sia-bot use decomposition, please", true, Parsed{Fact: sia.Use{Technique: "decomposition"}}},
		{"@sia-bot please use errors.Is here", true, Parsed{Fact: sia.AnswerGiven{Text: "please use errors.Is here"},
			Words: "use"}},
		{"@sia-bot stop using reflection here", true, Parsed{Fact: sia.AnswerGiven{Text: "stop using reflection here"},
			Words: "stop"}},
		{"@sia-bot stop now, thanks!", true, Parsed{Fact: sia.Stop{}}},
		{"@sia-bot pause all goroutines before the reset", true, Parsed{Words: "pause",
			Fact: sia.AnswerGiven{Text: "pause all goroutines before the reset"}}},
		{"@sia-bot pause all please", true, Parsed{Fact: sia.PauseAsked{Scope: Here}}},
		{"@sia-bot pause it", true, Parsed{Fact: sia.AnswerGiven{Text: "pause it"}, Words: "pause"}},
		{"@sia-bot resume +50, please", true, Parsed{Fact: sia.Resume{Credits: 50 * sia.Credit}}},
		{"@sia-bot resume much", true, Parsed{Fact: sia.AnswerGiven{Text: "resume much"}, Words: "resume"}},
		{"@sia-bot retry the request three times", true, Parsed{Fact: sia.AnswerGiven{
			Text: "retry the request three times"}, Words: "retry"}},
		{"@sia-bot explain why it failed", true, Parsed{Fact: sia.Query{Topic: "explain"}, Open: true}},
		{"@sia-bot: Google only\nplease", true, Parsed{Fact: sia.AnswerGiven{Text: "Google only\nplease"}, Words: NoneMeant}},
		{"/sia learn Run make generate\nafter a change.", true,
			Parsed{Teach: sia.Teach{Learn: "Run make generate\nafter a change."}}},
		{"@sia-bot forget make generate", true, Parsed{Teach: sia.Teach{Forget: "make generate"}}},
		{"/sia learn", true, Parsed{Problem: "say what is to be remembered, for example `/sia learn run make generate " +
			"after a change of the schema`"}},
		{"/sia wrong The schema is generated.\nEdit its source.", true,
			Parsed{Teach: sia.Teach{Wrong: "The schema is generated.\nEdit its source."}}},
		{"/sia wrong", true, Parsed{Problem: "say what was wrong, for example `/sia wrong the schema is generated and must " +
			"not be edited`"}},
		{"@sia-botany stop", false, Parsed{}},
		{"> Which providers?\n\n/sia stop", true, Parsed{Fact: sia.Stop{}}},
		{"/sia go\r\n\r\nOn Tue, Nov 24, 2026 at 9:00 AM Ana <a@b.test>\r\nwrote:\r\n\r\n> The plan.\r\n>\r\n> Go?\r\n",
			true, Parsed{Fact: sia.Approve{}}},
		{"/sia go\n\n-- \nAna", true, Parsed{Fact: sia.Approve{}}},
		{"/sia learn x\n\n-----Original Message-----\nFrom: SIA", true, Parsed{Teach: sia.Teach{Learn: "x"}}},
		{"On Tue, Ana wrote:\n> Go?\n\n/sia go", true, Parsed{Fact: sia.Approve{}}},
		{"/sia learn this:\n> keep it", true, Parsed{Teach: sia.Teach{Learn: "this:\n> keep it"}}},
		{"/sia learn On a start the server wrote:\nready", true,
			Parsed{Teach: sia.Teach{Learn: "On a start the server wrote:\nready"}}},
		{"/sia\tstop", true, Parsed{Fact: sia.Stop{}}},
		{"\n   /sia stop", true, Parsed{Fact: sia.Stop{}}},
		{"    /sia stop", false, Parsed{}}, // as GitHub shows it, this and the next three are code
		{"\t/sia stop", false, Parsed{}},
		{"\n  \t@sia-bot stop", false, Parsed{}},
		{"> You can write\n\n    /sia stop", false, Parsed{}},
		{"/sia\u00a0stop", true, Parsed{Fact: sia.Stop{}}},
		{"/sia resume please", true, Parsed{Fact: sia.Resume{}}},
		{"/sia resume, thanks", true, Parsed{Fact: sia.Resume{}}},
		{"/sia resume +50 please", true, Parsed{Fact: sia.Resume{Credits: 50 * sia.Credit}}},
	} {
		got, ok := Parse(c.body, "sia-bot")
		if ok != c.ok {
			t.Errorf("%q: addressed %v, want %v", c.body, ok, c.ok)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: -want +got\n%s", c.body, diff)
		}
	}
}

// Every command is parsed by its name, and is in README's table.
func TestEveryCommand(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Commands() {
		p, ok := Parse("/sia "+c.Name, "")
		if !ok || strings.HasPrefix(p.Problem, "there is no command") || p.Open != c.Open {
			t.Errorf("/sia %s is heard as %+v, %v", c.Name, p, ok)
		}
		if q, ok := p.Fact.(sia.Query); ok && q.Topic != c.Name {
			t.Errorf("/sia %s asks for %q", c.Name, q.Topic)
		}
		if !regexp.MustCompile("`/sia " + c.Name + "[` ]").Match(readme) {
			t.Errorf("README.md's table lacks /sia %s", c.Name)
		}
	}
}

func TestThumb(t *testing.T) {
	for body, want := range map[string]string{
		"👎 the schema is generated":         "the schema is generated",
		" \n👎🏽, the schema\nis generated. ": "the schema\nis generated.",
		"👎\ufe0f — not like this":           "not like this",
		":-1: wrong file":                   "wrong file",
		":thumbsdown:: wrong file":          "wrong file",
		"👎":                                 "", "👎 ": "", "👎🏿!": "", "": "", "👍 well done": "",
		"I don't like it 👎 at all": "", "> 👎 wrong": "", "/sia wrong 👎": "",
	} {
		words, ok := Thumb(body)
		if words != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", body, words, ok, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("/sia resume +50")
	f.Add("@sia-bot stop")
	f.Fuzz(func(t *testing.T, body string) {
		p, ok := Parse(body, "sia-bot")
		set := 0
		for _, is := range []bool{p.Fact != nil, p.Teach != sia.Teach{}, p.Problem != ""} {
			if is {
				set++
			}
		}
		if ok && set != 1 {
			t.Errorf("%q: want exactly one of a fact, a lesson and a problem, got %+v", body, p)
		}
	})
}
