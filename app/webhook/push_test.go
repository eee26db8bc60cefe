package webhook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// A push only tells where to look, and whether the settings may have changed; it is never an event of a task.
func TestReadPush(t *testing.T) {
	const head = `"after":"abc","installation":{"id":1},` +
		`"repository":{"id":9,"name":"r","owner":{"name":"o"},"default_branch":"main"},` +
		`"sender":{"login":"ada","id":7,"type":"User"}`
	want := func(change func(*push)) *push {
		p := &push{repo: sia.Repo{ID: 9, Owner: "o", Name: "r"}, branch: "main", isDefault: true,
			by: sia.Actor{Login: "ada", ID: 7}}
		change(p)
		return p
	}
	for _, c := range []struct {
		name, body string
		want       *push
	}{
		{"of code", `{"ref":"refs/heads/main","commits":[{"modified":["a.go", "docs/.sia/a"]}],` + head + `}`, nil},
		{"of more than GitHub lists", `{"ref":"refs/heads/main","commits":[` + strings.Repeat(`{},`, 2047) + `{}],` +
			head + `}`, want(func(*push) {})},
		{"of memory", `{"ref":"refs/heads/notes","commits":[{"modified":[".sia/lessons.md"]}],` + head + `}`,
			want(func(p *push) { p.branch, p.isDefault = "notes", false })},
		{"of settings", `{"ref":"refs/heads/main","commits":[{"modified":["a.go"]},{"added":[".sia/config.yml"]}],` + head +
			`}`, want(func(p *push) { p.settings = true })},
		{"that takes settings away", `{"ref":"refs/heads/main","commits":[{"removed":[".sia/config.yml"]}],` + head + `}`,
			want(func(p *push) { p.settings = true })},
		{"by force", `{"ref":"refs/heads/main","forced":true,` + head + `}`, want(func(p *push) { p.settings = true })},
		{"to another branch", `{"ref":"refs/heads/sia/memory",` + head + `}`,
			want(func(p *push) { p.branch, p.isDefault = "sia/memory", false })},
		{"of a tag", `{"ref":"refs/tags/main",` + head + `}`, nil},
		{"that deletes", `{"ref":"refs/heads/main","deleted":true,` + head + `}`, nil},
		{"of ours", `{"ref":"refs/heads/sia/memory","after":"abc","installation":{"id":1},"repository":{"id":9},` +
			`"sender":{"login":"sia[bot]","type":"Bot"}}`, nil},
	} {
		intents, admin, err := read(store.Delivery{GUID: "g", Event: "push", Body: []byte(c.body)}, "sia")
		if err != nil || len(intents) != 0 {
			t.Errorf("%s: %v, %v", c.name, intents, err)
			continue
		}
		var got *push
		if admin != nil {
			got = admin.pushed
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(push{})); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}
