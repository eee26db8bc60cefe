package ghsim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sim/ghsim"
)

// The base of a pull request is changed by a person or through the API; the event contains the former one.
func TestRetarget(t *testing.T) {
	s := newSim(t, nil)
	n := s.opened()
	r, err := s.Repo(repoName)
	must(t, err)
	_, err = s.PushFiles(repoName, "release", "dana", "Cut", map[string]string{"r.txt": "x"})
	must(t, err)
	s.settle()
	must(t, s.Retarget(repoName, n, "dana", "release"))
	must(t, s.Retarget(repoName, n, "dana", "nowhere"), "no branch")
	es := s.settle()
	last := es[len(es)-1]
	if last.Name != "pull_request" || last.Action != "edited" {
		t.Fatalf("the last event is %s.%s", last.Name, last.Action)
	}
	want := map[string]any{"base": map[string]any{"ref": map[string]any{"from": "main"},
		"sha": map[string]any{"from": r.Head}}}
	if diff := cmp.Diff(any(want), last.Payload["changes"]); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if at(last.Payload, "pull_request", "base", "ref") != "release" {
		t.Errorf("base %v", at(last.Payload, "pull_request", "base", "ref"))
	}
	look := s.look(s.token(nil), map[string]any{"commit": "topic", "number": n})
	if got := at(look, "data", "repository", "pullRequest", "baseRefName"); got != "release" {
		t.Errorf("base of the look %v", got)
	}
}

// A workflow for merge groups alone runs in the queue and never on the branch.
func TestMergeQueue(t *testing.T) {
	s := newSim(t, nil)
	_, err := s.PushFiles(repoName, "main", "dana", "Set up", map[string]string{
		".github/workflows/queue.yml": "on: {merge_group: {branches: [main]}}\n" +
			"jobs: {full: {steps: [{run: \"test ${{ github.event_name }} = merge_group\"}]}}\n"})
	must(t, err)
	must(t, s.AddRule(repoName, "main", ghsim.Rule{Type: "merge_queue"}))
	n := s.opened()
	p, err := s.Pull(repoName, n)
	must(t, err)
	if diff := cmp.Diff([]string{"pull_request success", "push success"}, s.conclusions(p.Head)); diff != "" {
		t.Errorf("runs on the branch (-want +got):\n%s", diff)
	}
	_, err = s.MergePull(repoName, n, "dana")
	must(t, err, "merge queue")
	must(t, s.Dequeue(repoName, n, "dana", true), "not in the merge queue")
	branch, err := s.Enqueue(repoName, n, "dana")
	must(t, err)
	s.settle()
	heads, err := s.Branches(repoName)
	must(t, err)
	if !strings.HasPrefix(branch, "gh-readonly-queue/main/pr-") || heads[branch] == "" {
		t.Fatalf("branch %q at %q", branch, heads[branch])
	}
	if diff := cmp.Diff([]string{"merge_group success", "push success"}, s.conclusions(heads[branch])); diff != "" {
		t.Errorf("runs in the queue (-want +got):\n%s", diff)
	}
	must(t, s.Dequeue(repoName, n, "dana", true))
	s.settle()
	r, err := s.Repo(repoName)
	must(t, err)
	if p, err := s.Pull(repoName, n); err != nil || !p.Merged || r.Head != heads[branch] {
		t.Errorf("merged %v, main at %s, want %s", p.Merged, r.Head, heads[branch])
	}
	es := names(s.settle())
	for _, want := range []string{"pull_request.enqueued", "pull_request.dequeued"} {
		if !slices.Contains(es, want) {
			t.Errorf("no event %s", want)
		}
	}
}

// A pull request removed from the queue is not merged.
func TestDequeue(t *testing.T) {
	s := newSim(t, nil)
	n := s.opened()
	_, err := s.Enqueue(repoName, n, "dana")
	must(t, err)
	must(t, s.Dequeue(repoName, n, "dana", false))
	if p, err := s.Pull(repoName, n); err != nil || p.Merged || p.State != "open" {
		t.Errorf("%v %v", p, err)
	}
	s.settle()
}

// A transferred issue has a new address, and its old one redirects there.
func TestTransferredIssue(t *testing.T) {
	s := newSim(t, nil)
	_, err := s.CreateRepo("acme", "other", ghsim.RepoSpec{})
	must(t, err)
	must(t, s.SetPermission("acme/other", "dana", "write"))
	_, err = s.Install(s.app.ID, "acme", "other")
	must(t, err)
	n, err := s.OpenIssue(repoName, "dana", "Move me", "text", "bug")
	must(t, err)
	_, err = s.Comment(repoName, n, "dana", "hello")
	must(t, err)
	_, err = s.TransferIssue(repoName, n, "dana", repoName)
	must(t, err, "can't be transferred")
	there, err := s.TransferIssue(repoName, n, "dana", "acme/other")
	must(t, err)
	es := s.settle()
	moved := es[len(es)-2]
	if diff := cmp.Diff([]string{"issues.transferred", "issues.opened"}, names(es[len(es)-2:])); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
	if at(moved.Payload, "changes", "new_issue", "number") != float64(there) ||
		at(moved.Payload, "changes", "new_repository", "full_name") != "acme/other" {
		t.Errorf("changes %v", moved.Payload["changes"])
	}
	v, err := s.Issue("acme/other", there)
	must(t, err)
	if v.Title != "Move me" || len(v.Comments) != 1 || len(v.Labels) != 1 {
		t.Errorf("there: %+v", v)
	}
	resp, body := s.do("GET", "/api/v3/repos/acme/shop/issues/1", s.token(nil), "")
	if resp.StatusCode != http.StatusMovedPermanently ||
		!strings.HasSuffix(resp.Header.Get("Location"), "/repos/acme/other/issues/1") {
		t.Errorf("old address: %s %s %s", resp.Status, resp.Header.Get("Location"), body)
	}
}

// Installation tokens have the form of 2026, unless the old one is requested.
func TestFormsOfTokens(t *testing.T) {
	s := newSim(t, nil)
	made := func(body string, header ...string) string {
		at := fmt.Sprintf("/api/v3/app/installations/%d/access_tokens", s.inst)
		resp, text := s.do("POST", at, s.jwt(nil), body, header...)
		var got struct{ Token string }
		if err := json.Unmarshal([]byte(text), &got); err != nil || resp.StatusCode != 201 {
			t.Fatalf("%s %s %v", resp.Status, text, err)
		}
		return got.Token
	}
	narrow := `{"repositories":["shop"]}`
	whole, narrowed, old := made(""), made(narrow), made(narrow, "X-GitHub-Stateless-S2S-Token", "disabled")
	if prefix := fmt.Sprintf("ghs_%d_", s.app.ID); !strings.HasPrefix(whole, prefix) ||
		strings.Count(whole, ".") != 2 || len(whole) < 500 || len(whole) > 540 {
		t.Errorf("new form, %d characters: %s", len(whole), whole)
	}
	if len(old) != 40 || !strings.HasPrefix(old, "ghs_") || strings.Contains(old, ".") {
		t.Errorf("old form %s", old)
	}
	const fetch = "/acme/shop.git/info/refs?service=git-upload-pack"
	s.RefuseRestrictedGit(true)
	for name, c := range map[string]struct {
		token string
		git   int
	}{"whole": {whole, 200}, "narrowed": {narrowed, 404}, "old": {old, 200}} {
		if resp, body := s.do("GET", "/api/v3/repos/acme/shop", c.token, ""); resp.StatusCode != 200 {
			t.Errorf("%s: REST answers %s %s", name, resp.Status, body)
		}
		if resp, _ := s.do("GET", fetch, c.token, ""); resp.StatusCode != c.git {
			t.Errorf("%s: git answers %s, want %d", name, resp.Status, c.git)
		}
	}
	s.RefuseRestrictedGit(false)
	if resp, _ := s.do("GET", fetch, narrowed, ""); resp.StatusCode != 200 {
		t.Errorf("narrowed: git answers %s", resp.Status)
	}
}
