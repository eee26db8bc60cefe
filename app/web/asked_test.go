package web

import (
	"html/template"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

// A question on a page comes with its subject: the plan, the edited text, or what seems to resolve the issue already.
// Strangers' words in it stay text.
func TestAskedShowsWhatItIsAbout(t *testing.T) {
	parts, err := template.New("base.html").Funcs((&site{}).funcs()).ParseFS(assets, "templates/parts.html")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		asked sia.Escalation
		want  []string
	}{
		"a plan": {sia.Escalation{Blocker: "A plan (`agent.plan: approve`).", Stale: true,
			Plan: &sia.Plan{Summary: "Add a **Mailer**.",
				Steps: []plan.Part{{Do: "Write <b>it</b>", DoneWhen: "go test passes"}}}},
			[]string{"<code>agent.plan: approve</code>", "Add a <strong>Mailer</strong>.", "Write &lt;b&gt;it&lt;/b&gt;",
				"Done when go test passes", "was edited after"}},
		"an edited text": {sia.Escalation{Edition: &sia.Edition{Title: "Mail <i>", Body: "hid\u200bden <img src=x>"}},
			[]string{"Mail &lt;i&gt;", "hid‹U&#43;200B›den &lt;img src=x&gt;"}},
		"done already": {sia.Escalation{Already: &sia.Already{URL: "https://github.com/acme/bookings/pull/7"}},
			[]string{`<a href="https://github.com/acme/bookings/pull/7">`}},
	} {
		var b strings.Builder
		if err := parts.ExecuteTemplate(&b, "asked", c.asked); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q:\n%s", name, want, b.String())
			}
		}
	}
}
