package lesson

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia"
)

func found(l Lesson, rank float64) SearchHit { return SearchHit{Lesson: l, Rank: rank, Shared: 3} }

// choose calls Choose and ignores withholding.
func choose(want ChooseOptions, all ...SearchHit) []string {
	told, kept := Choose(all, want)
	var texts []string
	for _, l := range slices.Concat(told, kept) {
		texts = append(texts, l.Text)
	}
	slices.Sort(texts)
	return texts
}

func TestChoose(t *testing.T) {
	now := start.Add(90 * day)
	fresh := func(name, text string) Lesson { l := say(name, Success, text); l.LastSeen = now; return l }
	mail, sms, tax := fresh("a", putBehind), fresh("b", "Send text messages through the Texter interface."),
		fresh("c", "Round tax half to even.")
	double := fresh("d", putBehind+" Always.")
	old := say("e", Success, sms.Text)
	bad := fresh("f", "Retry the upload.")
	bad.Bad, bad.CountedAt = 3, now
	archived := tax
	archived.State = Archived
	contrary := fresh("g", "Don't round tax half to even.")
	thin, person := found(tax, 1), found(tax, 1)
	thin.Shared, person.Shared = 1, 1
	person.From.Source = FromPerson
	own, hers := found(tax, 5), found(mail, 5)
	own.From.Task, hers.From.Task, hers.From.Source = "7-1", "7-1", FromPerson
	want := ChooseOptions{Task: "7-1", Most: 2, MinConfidence: .5, Now: now}
	for _, c := range []struct {
		name string
		in   []SearchHit
		want []string
	}{
		{"nothing", nil, nil},
		{"at most so many, the most fitting", []SearchHit{found(tax, 3), found(mail, 5), found(sms, 4)},
			[]string{putBehind, sms.Text}},
		{"different from each other", []SearchHit{found(mail, 5), found(double, 4.9), found(sms, 4)},
			[]string{putBehind, sms.Text}},
		{"not what hardly fits", []SearchHit{found(mail, 5), found(tax, .5)}, []string{putBehind}},
		{"not what is too unsure", []SearchHit{found(bad, 5), found(tax, 1)}, []string{tax.Text}},
		{"not what is archived", []SearchHit{found(archived, 5)}, nil},
		{"not both of two that contradict", []SearchHit{found(tax, 5), found(contrary, 4.9)}, []string{tax.Text}},
		{"not what the task itself taught, but what a person taught there", []SearchHit{own, hers}, []string{putBehind}},
		{"not for one word", []SearchHit{thin}, nil},
		{"a person's for one word", []SearchHit{person}, []string{tax.Text}},
	} {
		if diff := cmp.Diff(c.want, choose(want, c.in...)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	// Age: what was seen 90 days ago counts half.
	want.Most = 1
	if got := choose(want, found(old, 5), found(tax, 2.6)); got[0] != tax.Text {
		t.Errorf("the old one is told: %v", got)
	}
	if got := choose(want, found(old, 5), found(tax, 2.4)); got[0] != sms.Text {
		t.Errorf("the new one is told: %v", got)
	}
}

// For any search result, the chosen lessons are few, confident enough, distinct, and independent of the order; no
// lesson is both told and withheld. A promoted lesson is preferred to a slightly better match, and stays relevant twice
// as long.
func TestPromotedFirst(t *testing.T) {
	active, promoted := say("a", Success, "Round tax half to even."), say("b", Success, "Send mail through the queue.")
	active.State, promoted.State = Active, Promoted
	for _, tt := range []struct {
		name    string
		rank    float64 // of the promoted one, where the other has 1
		age     time.Duration
		want    string
		archive bool
	}{
		{"a little worse", .81, 0, promoted.Text, false},
		{"much worse", .79, 0, active.Text, false},
		{"older", .57, 90 * day, promoted.Text, false}, // ×1.25, and √2 for age that counts half as much
		{"much worse and older", .56, 90 * day, active.Text, false},
		{"archived", 9, 0, active.Text, true},
	} {
		a, p := active, promoted
		a.LastSeen, p.LastSeen = start, start
		if tt.archive {
			p.State = Archived
		}
		want := ChooseOptions{Task: "7-1", Most: 1, Now: start.Add(tt.age)}
		if got := choose(want, found(a, 1), found(p, tt.rank)); len(got) != 1 || got[0] != tt.want {
			t.Errorf("%s: %v is told", tt.name, got)
		}
	}
}

func TestChooseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []SearchHit
		for i := range rapid.IntRange(0, 30).Draw(t, "n") {
			l := say(fmt.Sprint(i), rapid.SampledFrom(Kinds).Draw(t, "kind"),
				rapid.SampledFrom([]string{putBehind, "Round tax.", "Don't round tax.", "Run make generate."}).Draw(t, "text"))
			l.State = rapid.SampledFrom([]State{Active, Promoted, Archived, Forgotten}).Draw(t, "state")
			l.Good, l.Bad = float64(rapid.IntRange(0, 9).Draw(t, "good")), float64(rapid.IntRange(0, 9).Draw(t, "bad"))
			all = append(all, SearchHit{Lesson: l, Rank: rapid.Float64Range(0, 50).Draw(t, "rank"),
				Shared: rapid.IntRange(0, 5).Draw(t, "shared")})
		}
		want := ChooseOptions{Task: sia.TaskID(fmt.Sprint("7-", rapid.IntRange(1, 50).Draw(t, "task"))),
			Most: rapid.IntRange(0, 8).Draw(t, "most"), MinConfidence: .5, Now: after(t, start, "now")}
		told, kept := Choose(all, want)
		both := slices.Concat(told, kept)
		if len(both) > want.Most {
			t.Fatalf("%d of at most %d", len(both), want.Most)
		}
		for i, l := range both {
			if !l.Live() || l.Confidence(want.Now) < .5 {
				t.Fatalf("told: %+v", l)
			}
			for _, o := range both[:i] {
				if o.ID == l.ID || Opposed(o, l) {
					t.Fatalf("both %q and %q", o.Text, l.Text)
				}
			}
		}
		slices.Reverse(all)
		again, keptAgain := Choose(all, want)
		if diff := cmp.Diff([][]string{IDs(told), IDs(kept)}, [][]string{IDs(again), IDs(keptAgain)}); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A lesson is withheld from a tenth of the tasks, always the same ones.
func TestWithheld(t *testing.T) {
	kept := 0
	for i := range 5000 {
		_, k := Choose([]SearchHit{found(say("a", Success, putBehind), 5)},
			ChooseOptions{Task: sia.NewTaskID(7, i), Most: 5, MinConfidence: .5, Now: start})
		kept += len(k)
	}
	if share := float64(kept) / 5000; math.Abs(share-withheldShare) > .02 {
		t.Errorf("withheld from %.3f of the tasks", share)
	}
}

func TestUplift(t *testing.T) {
	var all []Evidence
	add := func(arm Arm, passed, failed int) {
		for i := range passed + failed {
			e := Evidence{Arm: arm, Good: 1}
			if i >= passed {
				e.Good, e.Bad = 0, 1
			}
			all = append(all, e)
		}
	}
	if got := Uplift(nil).String(); got != "no attempt with a lesson has been judged yet" {
		t.Error(got)
	}
	add(Told, 38, 10)
	add(NoArm, 0, 50) // what people say is no outcome
	if got := Uplift(all).String(); got != "38 of 48 tasks with the lesson passed. No control group yet, so the "+
		"benefit is unknown" {
		t.Error(got)
	}
	add(Withheld, 1, 5)
	u := Uplift(all)
	if got := u.String(); got != "with the lesson: 38 of 48 passed; without: 1 of 6; benefit +53 points (90 % "+
		"interval +26 to +80)" {
		t.Error(got)
	}
	if u.Low > u.Points || u.High < u.Points {
		t.Errorf("%+v", u)
	}
}

func TestRank(t *testing.T) {
	words := []string{"mail", "send", "guest"}
	w := WeighWords(words, map[string]int{"mail": 2, "send": 90, "zebra": 1}, 100)
	if w["mail"] <= w["send"] || w["send"] <= 0 || w["guest"] != 0 {
		t.Errorf("weights %v", w)
	}
	short, long := say("a", Success, "Mail."), say("b", Success, "Mail.")
	long.Words = Words(fmt.Sprint(time.RFC1123,
		" so many other words that have nothing to do with what this is about, hour after hour and page after page"), 80)
	s, sharedShort := w.Rank(short.Terms())
	l, sharedLong := w.Rank(long.Terms())
	if s <= l || l <= 0 || sharedShort != 1 || sharedLong != 1 {
		t.Errorf("short %v for %d words, long %v for %d", s, sharedShort, l, sharedLong)
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"Don't send the MAIL_API_KEY":      {"send", "mail", "api", "key"},
		"sendMail failed, sending mails":   {"send", "mail", "fail"},
		"It is the 42 of them":             {},
		"greeting greetings greeted":       {"greet"},
		"größe ключ 3d":                    {"größe", "ключ", "3d"},
		"classes class policies policy ok": {"class", "policy", "ok"},
		"修改数据库，运行mail gen":                 {"修改", "改数", "数据", "据库", "运行", "mail", "gen"},
		"データの型":                            {"デー", "ータ", "タの", "の型"},
		"型":                                {"型"},
		"ห้ามapi":                          {"ห้", "้า", "าม", "api"},
	} {
		if diff := cmp.Diff(want, append([]string{}, Words(text, 80)...)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	if got := Words("one two three four five", 2); len(got) != 2 {
		t.Errorf("got %v", got)
	}
}
