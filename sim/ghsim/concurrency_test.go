package ghsim_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-github/v66/github"
)

// People, git and the API act at once: nothing is lost, and pushes keep their pushers.
func TestConcurrentUse(t *testing.T) {
	s := newSim(t, map[string]string{"a.txt": "a",
		".github/workflows/ci.yml": "on: push\njobs: {test: {steps: [{run: 'true'}]}}\n"})
	n, err := s.OpenIssue(repoName, "dana", "T", "")
	must(t, err)
	c, tok := s.bot(), s.token(nil)
	dirs := []string{s.cloned(tok), s.cloned(tok)}
	var wg sync.WaitGroup
	const rounds = 4
	for i, dir := range dirs {
		wg.Go(func() {
			for k := range rounds {
				commit(t, dir, fmt.Sprintf("%d-%d.txt", i, k), "x")
				if out, err := git(t, dir, "push", "--quiet", "origin", fmt.Sprintf("HEAD:refs/heads/bot-%d", i)); err != nil {
					t.Errorf("push: %v\n%s", err, out)
				}
			}
		})
	}
	wg.Go(func() {
		for k := range rounds {
			if _, err := s.PushFiles(repoName, "person", "dana", "x", map[string]string{"p.txt": fmt.Sprint(k)}); err != nil {
				t.Errorf("push of a person: %v", err)
			}
		}
	})
	wg.Go(func() {
		for range rounds {
			if _, _, err := c.Issues.CreateComment(ctx, "acme", "shop", n, &github.IssueComment{Body: ptr("x")}); err != nil {
				t.Errorf("comment: %v", err)
			}
			if _, err := s.Comment(repoName, n, "dana", "y"); err != nil {
				t.Errorf("comment of a person: %v", err)
			}
		}
	})
	wg.Wait()
	s.settle()
	who := map[string]map[string]int{}
	for _, e := range s.Timeline("push", "push.created") {
		if who[e.Ref] == nil {
			who[e.Ref] = map[string]int{}
		}
		who[e.Ref][e.Actor]++
	}
	for ref, want := range map[string]string{"bot-0": "sia[bot]", "bot-1": "sia[bot]", "person": "dana"} {
		if len(who[ref]) != 1 || who[ref][want] != rounds {
			t.Errorf("pushes of %s: %v, want %d of %s", ref, who[ref], rounds, want)
		}
	}
	if v, err := s.Issue(repoName, n); err != nil || len(v.Comments) != 2*rounds {
		t.Errorf("%d comments, %v", len(v.Comments), err)
	}
	if ds := s.Timeline("workflow_run.completed"); len(ds) != 3*rounds {
		t.Errorf("%d workflow runs, want %d", len(ds), 3*rounds)
	}
}
