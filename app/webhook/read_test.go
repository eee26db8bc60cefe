package webhook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// examples are GitHub's own payloads, from the npm package
// @octokit/webhooks-examples that `make deps` installs.
func examples(t testing.TB) map[string][]json.RawMessage {
	t.Helper()
	file := filepath.Join("..", "..", "node_modules", "@octokit", "webhooks-examples", "api.github.com", "index.json")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run `make deps`", err)
	}
	var list []struct {
		Name     string            `json:"name"`
		Examples []json.RawMessage `json:"examples"`
	}
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	all := map[string][]json.RawMessage{}
	for _, e := range list {
		all[e.Name] = e.Examples
	}
	return all
}

// Every example payload of GitHub's for our events is read, or refused with a reason; none panics.
//
//test:thorough
func TestGitHubsExamples(t *testing.T) {
	all := examples(t)
	n := 0
	for event := range handled {
		if len(all[event]) == 0 {
			t.Errorf("there is no example of %s", event)
		}
		for i, body := range all[event] {
			n++
			intents, admin, err := read(store.Delivery{GUID: "g", Event: event, Body: body, Installation: 7}, "sia")
			if err != nil {
				// Two examples of check_run.rerequested have invalid dates.
				if event == "check_run" && strings.Contains(err.Error(), "parsing time") {
					continue
				}
				t.Errorf("%s example %d: %v", event, i, err)
				continue
			}
			for _, in := range intents {
				if in.Event.Fact == nil || in.Event.ID == "" || len(in.Refs) == 0 {
					t.Errorf("%s example %d: an intent without fact, id or reference: %+v", event, i, in)
				}
			}
			_ = admin
		}
	}
	if n < 50 {
		t.Errorf("only %d examples were found", n)
	}
}

// brief formats an intent on one line.
func brief(in sia.Intent) string {
	fact, _ := json.Marshal(in.Event.Fact)
	return fmt.Sprintf("%s %s by %s bot=%v permission=%v command=%v refs=%v id=%s", in.Event.Fact.Kind(), fact,
		in.Event.By.Login, in.Bot, in.Permission, in.Event.Origin.Command, in.Refs, in.Event.ID)
}

func TestRead(t *testing.T) {
	const head = `"installation":{"id":1},"repository":{"id":9,"name":"r","owner":{"login":"o"},` +
		`"default_branch":"main"},` +
		`"sender":{"login":"ada","id":7,"type":"User"}`
	const branch = `"head":{"ref":"sia/issue-3-x","sha":"abc","repo":{"id":9}}`
	const plain = "bot=false permission=false command=false"
	const pushed = `"pull_request":{"head":{"ref":"topic","sha":"abc","repo":{"id":9}},` +
		`"base":{"ref":"release","sha":"def"}},`
	const repo = `"installation":{"id":1},"repository":{"id":9,"name":"r","owner":{"login":"o"}},`
	const bot = repo + `"sender":{"login":"fixer[bot]","type":"Bot"}`
	const own = repo + `"sender":{"login":"sia[bot]","type":"Bot"}`
	edited := func(from, to, by string) string {
		return `{"action":"edited","changes":{"body":{"from":"` + from +
			`"}},"issue":{"number":3},"comment":{"id":5,"body":"` + to + `","user":{"login":"` + by + `"}},` + head + `}`
	}
	const status = `query {"topic":"status"} by ada bot=false permission=false command=true refs=[issue:4] ` +
		`id=review/8/command`
	reviewed := func(state, from, to, by string) string {
		return `{"action":"edited","changes":{"body":{"from":"` + from + `"}},"review":{"id":8,"state":"` + state +
			`","body":"` + to + `","user":{"login":"` + by + `"}},"pull_request":{"number":4,` + branch + `},` + head + `}`
	}
	for _, c := range []struct {
		name, event, body string
		want              []string
	}{
		{"a comment that says nothing to us", "issue_comment",
			`{"action":"created","issue":{"number":3},"comment":{"id":5,"body":"hello","user":{"login":"ada"}},` + head + `}`,
			[]string{`answer {"text":"hello"} by ada bot=false permission=true command=false refs=[issue:3] id=comment/5`}},
		{"a command", "issue_comment",
			`{"action":"created","issue":{"number":3},"comment":{"id":5,"body":"/sia stop","user":{"login":"ada"}},` + head +
				`}`,
			[]string{`stop {"reason":"@ada said ` + "`/sia stop`" +
				`"} by ada bot=false permission=true command=true refs=[issue:3] id=comment/5`}},
		{"our own comment", "issue_comment",
			`{"action":"created","issue":{"number":3},"comment":{"id":5,"body":"/sia stop","user":{"login":"sia[bot]"}},` +
				head + `}`, nil},
		{"a comment of a person's that was edited", "issue_comment",
			`{"action":"edited","issue":{"number":3},"comment":{"id":5,"body":"/sia stop","user":{"login":"ada"}},` + head + `}`,
			nil},
		{"a comment that became a command", "issue_comment",
			edited("please stop", "/sia stop", "ada"),
			[]string{`stop {"reason":"@ada said ` + "`/sia stop`" +
				`"} by ada bot=false permission=true command=true refs=[issue:3] id=comment/5`}},
		{"a command that was mended", "issue_comment",
			edited("/sia stpo", "/sia stop", "ada"),
			[]string{`stop {"reason":"@ada said ` + "`/sia stop`" +
				`"} by ada bot=false permission=true command=true refs=[issue:3] id=comment/5`}},
		{"a command that stayed", "issue_comment",
			edited("/sia  stop", `/sia stop\nwhy`, "ada"),
			nil},
		{"credits, and everything goes on", "issue_comment",
			`{"action":"created","issue":{"number":3},"comment":{"id":5,"body":"/sia resume +50 all","user":{"login":"ada"}},` +
				head + `}`,
			[]string{`resume {"scope":"repository 9"} by ada bot=false permission=true command=true refs=[issue:3] id=comment/5`,
				`resume {"credits":50000} by ada bot=false permission=true command=true refs=[issue:3] id=comment/5/credits`}},
		{"a command that somebody wrote into another's comment", "issue_comment",
			edited("please stop", "/sia stop", "eve"),
			nil},
		{"a command that became a comment", "issue_comment",
			edited("/sia stop", "please stop", "ada"),
			nil},
		{"a review that requests changes and says what SIA is to learn", "pull_request_review",
			`{"action":"submitted","review":{"id":8,"state":"changes_requested","body":"/sia learn use tabs"},` +
				`"pull_request":{"number":4,` + branch + `},` + head + `}`,
			[]string{`query {"topic":"say"} by ada bot=false permission=true command=true refs=[issue:4] ` +
				`id=review/8/command`,
				`changes_asked {"review":8} by ada bot=false permission=true command=true refs=[branch:sia/issue-3-x] ` +
					`id=review/8`}},
		{"a review whose words begin like a command", "pull_request_review",
			`{"action":"submitted","review":{"id":8,"state":"commented","body":"@sia stop using reflection"},` +
				`"pull_request":{"number":4,` + branch + `},` + head + `}`,
			[]string{
				`changes_asked {"review":8} by ada bot=false permission=true command=true refs=[branch:sia/issue-3-x] ` +
					`id=review/8`}},
		{"a review that is a command", "pull_request_review",
			`{"action":"submitted","review":{"id":8,"state":"commented","body":"/sia status"},` +
				`"pull_request":{"number":4,` + branch + `},` + head + `}`,
			[]string{status}},
		{"a command that was written into a review", "pull_request_review",
			reviewed("changes_requested", "use tabs", `/sia status\nuse tabs`, "ada"),
			[]string{status}},
		{"words to SIA that were written into a review", "pull_request_review",
			reviewed("approved", "good", "@sia please say which world", "ada"),
			[]string{
				`changes_asked {"review":8} by ada bot=false permission=true command=true refs=[branch:sia/issue-3-x] ` +
					`id=review/8`}},
		{"a review whose words to people were edited", "pull_request_review",
			reviewed("changes_requested", `/sia status\nuse tabs`, `/sia status\nuse spaces`, "ada"), nil},
		{"a command that somebody wrote into another's review", "pull_request_review",
			reviewed("commented", "good", "/sia stop", "eve"), nil},
		{"a pull request that is opened again", "pull_request",
			`{"action":"reopened","pull_request":{"number":4,"node_id":"n","html_url":"u",` + branch + `},` + head + `}`,
			[]string{`pull_reopened {"number":4,"node_id":"n","url":"u"} by ada ` + plain +
				` refs=[branch:sia/issue-3-x] id=delivery/g`}},
		{"a pull request that a merge queue merges", "pull_request",
			`{"action":"closed","pull_request":{"number":4,"merged":true,` + branch + `},` + bot + `}`,
			[]string{`pull_closed {"merged":true,"head":"abc"} by fixer[bot] ` + plain +
				` refs=[branch:sia/issue-3-x] id=delivery/g`}},
		{"a draft that is ready", "pull_request",
			`{"action":"ready_for_review","pull_request":{"number":4,` + branch + `},` + head + `}`,
			[]string{`draft_changed {"draft":false} by ada ` + plain + ` refs=[branch:sia/issue-3-x] id=delivery/g`}},
		{"one that SIA made ready", "pull_request",
			`{"action":"ready_for_review","pull_request":{"number":4,` + branch + `},` + own + `}`,
			[]string{`check_seen {"sha":"abc"} by  ` + plain + ` refs=[commit:abc] id=delivery/g`}},
		{"one that is a draft again", "pull_request",
			`{"action":"converted_to_draft","pull_request":{"number":4,` + branch + `},` + head + `}`,
			[]string{`draft_changed {"draft":true} by ada ` + plain + ` refs=[branch:sia/issue-3-x] id=delivery/g`}},
		{"taking the label off", "issues", `{"action":"unlabeled","issue":{"number":3},"label":{"name":"sia"},` + head + `}`,
			[]string{`stop {"reason":"@ada took the label off"} by ada ` + plain + ` refs=[issue:3] id=delivery/g`}},
		{"a label on a pull request", "issues",
			`{"action":"labeled","issue":{"number":3,"pull_request":{"url":"x"}},"label":{"name":"sia"},` + head + `}`, nil},
		{"another app's check", "check_run",
			`{"action":"completed","check_run":{"head_sha":"abc","app":{"slug":"ci"}},` + head + `}`,
			[]string{`check_seen {"sha":"abc"} by  ` + plain + ` refs=[commit:abc] id=delivery/g`}},
		{"our own check", "check_run",
			`{"action":"completed","check_run":{"head_sha":"abc","app":{"slug":"sia"}},` + head + `}`, nil},
		{"a button", "check_run",
			`{"action":"requested_action","requested_action":{"identifier":"accept-tests"},` +
				`"check_run":{"head_sha":"abc","app":{"slug":"sia"}},` + head + `}`,
			[]string{`accept_tests {"sha":"abc"} by ada bot=false permission=true command=false refs=[commit:abc] ` +
				`id=delivery/g`}},
		{"a button that is none of ours", "check_run",
			`{"action":"requested_action","requested_action":{"identifier":"x"},` +
				`"check_run":{"head_sha":"abc","app":{"slug":"sia"}},` + head + `}`, nil},
		{"a push to a pull request of a fork", "pull_request",
			`{"action":"synchronize","pull_request":{"number":4,"head":{"ref":"sia/issue-3-x","sha":"abc","repo":{"id":10}}},` +
				head + `}`, nil},
		{"a push to our pull request", "pull_request",
			`{"action":"synchronize","pull_request":{"number":4,` + branch + `},` + head + `}`,
			[]string{`branch_moved {"sha":"abc"} by ada ` + plain + ` refs=[branch:sia/issue-3-x] id=delivery/g`}},
		{"a status", "status", `{"sha":"abc","state":"failure","context":"ci",` + head + `}`,
			[]string{`check_seen {"sha":"abc","bad":true} by  ` + plain + ` refs=[commit:abc] id=delivery/g`}},
		{"a push by a bot", "pull_request", `{"action":"synchronize",` + pushed + bot + `}`,
			[]string{`branch_moved {"sha":"abc"} by fixer[bot] ` + plain + ` refs=[branch:topic] id=delivery/g`}},
		{"SIA's own push", "pull_request", `{"action":"synchronize",` + pushed + own + `}`, nil},
		{"another base", "pull_request", `{"action":"edited","changes":{"base":{"ref":{"from":"main"}}},` +
			pushed + bot + `}`,
			[]string{`retargeted {"base":"release","sha":"def"} by fixer[bot] ` + plain + ` refs=[branch:topic] id=delivery/g`}},
		{"another title", "pull_request", `{"action":"edited","changes":{"title":{"from":"a"}},` + pushed + bot + `}`, nil},
	} {
		intents, _, err := read(store.Delivery{GUID: "g", Event: c.event, Body: []byte(c.body)}, "sia")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, in := range intents {
			got = append(got, brief(in))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

// TestOddDatesLoseNoDelivery: some payloads have dates that are not in RFC 3339.
func TestOddDatesLoseNoDelivery(t *testing.T) {
	for _, date := range []string{`"2018-04-25 20:42:10"`, `"2018-04-25T20:42:10.123456Z"`, `1524688930`, `1524688930.25`,
		`"2018-04-25T20:42:10+0000"`, `""`, `"no date"`,
		`"2018-13-45T99:99:99Z"`, `-1`, `1524688930000`} {
		for event, body := range map[string]string{
			"issues": `"action":"unlabeled","label":{"name":"sia"},"issue":{"number":3,"created_at":%[1]s,"closed_at":%[1]s}`,
			"issue_comment": `"action":"created","issue":{"number":3},"comment":{"id":5,"body":"/sia stop","created_at":%[1]s,` +
				`"updated_at":%[1]s,"user":{"login":"ada","created_at":%[1]s}}`,
			"check_run": `"action":"completed","check_run":{"head_sha":"abc","started_at":%[1]s,"completed_at":%[1]s,` +
				`"check_suite":{"created_at":%[1]s},"app":{"slug":"ci","created_at":%[1]s}}`,
			"check_suite": `"action":"completed","check_suite":{"head_sha":"abc","created_at":%[1]s,"head_commit":` +
				`{"id":"abc","timestamp":%[1]s}}`,
			"status":       `"sha":"abc","state":"failure","created_at":%[1]s,"commit":{"commit":{"author":{"date":%[1]s}}}`,
			"workflow_run": `"action":"completed","workflow_run":{"head_sha":"abc","created_at":%[1]s,"run_started_at":%[1]s}`,
			"pull_request": `"action":"closed","pull_request":{"number":4,"merged_at":%[1]s,"head":{"ref":"sia/issue-3-x",` +
				`"sha":"abc","repo":{"id":9,"pushed_at":%[1]s}}}`,
			"push": `"ref":"refs/heads/sia/issue-3-x","after":"abc","head_commit":{"id":"abc","timestamp":%[1]s},` +
				`"commits":[{"id":"abc","timestamp":%[1]s}]`,
		} {
			payload := "{" + fmt.Sprintf(body, date) + `,"installation":{"id":1,"created_at":` + date +
				`,"suspended_at":` + date + `},"repository":{"id":9,"name":"r","owner":{"login":"o"},"created_at":` + date +
				`,"pushed_at":` + date + `},"sender":{"login":"ada","id":7,"type":"User"}}`
			if _, _, err := read(store.Delivery{GUID: "g", Event: event, Body: []byte(payload)}, "sia"); err != nil {
				t.Errorf("%s with %s: %v", event, date, err)
			}
		}
	}
}

// A delivery without an installation is refused: it is not from the app's own webhook.
func TestReadWithoutInstallation(t *testing.T) {
	_, _, err := read(store.Delivery{Event: "issues",
		Body: []byte(`{"action":"closed","issue":{"number":1},"repository":{"id":1},"sender":{"login":"a"}}`)}, "sia")
	if err == nil {
		t.Error("it was accepted")
	}
}

func FuzzRead(f *testing.F) {
	for event := range handled {
		f.Add(event, []byte(`{"action":"created","installation":{"id":1},"repository":{"id":2},"sender":{"login":"a"},`+
			`"comment":{"body":"/sia answer B"},"issue":{"number":1}}`))
		f.Add(event, []byte(`{"action":"labeled","label":null,"issue":null,"check_run":null,"pull_request":{"head":null}}`))
	}
	f.Fuzz(func(t *testing.T, event string, body []byte) {
		intents, _, err := read(store.Delivery{GUID: "g", Event: event, Body: body, Installation: 1}, "sia")
		for _, in := range intents {
			if err == nil && in.Event.Fact == nil {
				t.Errorf("%s: an intent without a fact", event)
			}
		}
	})
}

// Commands in reviews and in threads on lines have the time at which they were written, so that a late delivery is not
// taken for a new command. GitHub does not report when a review was edited.
func TestTimesOfReviews(t *testing.T) {
	const about = `"repository":{"id":5,"name":"demo","owner":{"login":"octo"}},"sender":{"login":"ann","id":4},
		"pull_request":{"number":12,"head":{"ref":"sia/issue-3","repo":{"id":5}}}`
	const review = `"review":{"id":8,"state":"commented","body":"/sia retry","user":{"login":"ann"},
		"submitted_at":"2026-03-01T12:00:00Z"}`
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		event, body string
		want        time.Time
	}{
		{"pull_request_review", `{"action":"submitted",` + review + `,` + about + `}`, noon},
		{"pull_request_review", `{"action":"edited","changes":{"body":{"from":"Well."}},` + review + `,` + about + `}`,
			time.Time{}},
		{"pull_request_review_comment", `{"action":"created","comment":{"id":9,"body":"/sia retry","user":{"login":"ann"},
			"created_at":"2026-03-01T11:00:00Z","updated_at":"2026-03-01T12:00:00Z"},` + about + `}`, noon},
	} {
		intents, _, err := read(store.Delivery{GUID: "g", Event: c.event, Body: []byte(c.body), Installation: 7}, "sia")
		if err != nil || len(intents) != 1 || !intents[0].Changed.Equal(c.want) {
			t.Errorf("%s: %+v, %v", c.body, intents, err)
		}
	}
}
