package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/cmd/internal/cli"
)

// Doctor reports what prevents pull requests in a repository, and what to do.
func TestDoctorLooksAtRepositories(t *testing.T) {
	for name, c := range map[string]struct {
		o    github.Opening
		says []string
		bad  bool
	}{
		"nothing": {github.Opening{}, nil, false},
		"archived": {github.Opening{Archived: true, NoPulls: true},
			[]string{"! pull requests", "is archived", "unarchive"}, false},
		"disabled":    {github.Opening{Disabled: true}, []string{"✗", "GitHub has disabled it"}, true},
		"no issues":   {github.Opening{NoIssues: true}, []string{"✗", "issues are switched off", "Settings → General"}, true},
		"no pulls":    {github.Opening{NoPulls: true}, []string{"✗", "pull requests are switched off"}, true},
		"not for all": {github.Opening{CollaboratorsOnly: true}, []string{"!", "only collaborators"}, false},
		"silent": {github.Opening{Silent: true},
			[]string{"!", "no check has run on the head of its default branch", "that Actions is switched on"}, false},
		"rules": {github.Opening{Rules: []string{"creation", "max_file_size"}},
			[]string{"!", "no branch can be made), max file size", "Settings → Rules → Rulesets"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Repo = "acme/shop"
			all := pullRequestProblems(c.o)
			for i := range all {
				all[i].What = "pull requests"
			}
			var out bytes.Buffer
			err := reportFindings(&cli.Env{Out: &out}, cli.Format{}, all)
			if errors.Is(err, cli.ErrShown) != c.bad || len(c.says) == 0 && len(all) > 0 {
				t.Errorf("doctor ends with %v after %v", err, all)
			}
			for _, want := range c.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("lacks %q:\n%s", want, out.String())
				}
			}
		})
	}
}
