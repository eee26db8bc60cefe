package work

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/tamper"
)

// checkClaim verifies a coder's claim that nothing has to be done: it runs the claimed test on the base plus the
// attempt's test changes, and searches the commit in the base's history. It returns nil if nothing is claimed, or if
// code was changed.
func (w *attemptWorker) checkClaim(
	ctx context.Context, t sia.Task, f sia.Effect, fact sia.AttemptEnded,
) (*sia.ClaimCheck, error) {
	c, claims := sia.ClaimOf(fact.Summary)
	d := fact.Diff
	noTest := func(p string) bool { return !tamper.IsTest(p) }
	if !claims || fact.Commit != "" && (d.Files > len(d.Paths) || slices.ContainsFunc(d.Paths, noTest)) {
		return nil, nil //nolint:nilnil // nothing is claimed
	}
	o := &sia.ClaimCheck{Claim: c, Base: t.BaseSHA, URL: w.Links.Commit(t.Repo, t.BaseSHA)}
	if c.Command == "" && c.Commit == "" {
		o.Wrong = "it names neither a test nor a commit"
		return o, nil
	}
	if c.Command != "" {
		sha := string(t.BaseSHA)
		if fact.Commit != "" { // the base with changed tests
			sha = string(fact.Commit)
		}
		got, err := w.check(ctx, t, f, sha, []string{c.Command}, nil)
		if err != nil {
			return nil, err
		}
		switch r := got[0]; {
		case r.Missing != "": // it says nothing
			o.NotRun, o.URL = r.Missing, ""
		case !r.Holds:
			o.Wrong = fmt.Sprintf("`%s` fails on `%s`:\n%s", c.Command, t.BaseBranch, r.Excerpt)
		case !r.Ran:
			o.Wrong = fmt.Sprintf("`%s` passes on `%s`, but its output shows no test that ran", c.Command, t.BaseBranch)
		}
		if o.Wrong != "" {
			return o, nil
		}
	}
	if c.Commit != "" {
		names, err := w.mirror(t).FetchNamesOf(ctx, string(t.BaseSHA))
		if err != nil {
			return nil, err
		}
		if o.Wrong = checkClaimedCommit(names, &o.Claim, t.BaseBranch); o.Wrong == "" && o.Claim.Commit != "" {
			o.URL = w.Links.Commit(t.Repo, o.Claim.Commit)
		}
	}
	return o, nil
}

// checkClaimedCommit returns why a claim about a commit is wrong: it is not in the base's history, or did not change
// the named files. Otherwise it sets the claim's full commit name. The history omits merges and large commits, and may
// be empty if the server sends none. If the commit is not found, a test is sufficient and the commit is removed from
// the claim.
func checkClaimedCommit(behind []gitops.HistoryNames, c *sia.Claim, branch string) string {
	i := slices.IndexFunc(behind, func(n gitops.HistoryNames) bool { return strings.HasPrefix(n.SHA, string(c.Commit)) })
	switch {
	case i < 0 && c.Command != "":
		c.Commit, c.Paths = "", nil
		return ""
	case len(behind) == 0:
		return fmt.Sprintf("commit %s can't be looked up: the history of `%s` was not read", c.Commit.Short(), branch)
	case i < 0:
		return fmt.Sprintf("commit %s was not found among the newest %d commits of `%s` that are neither merges nor large",
			c.Commit.Short(), len(behind), branch)
	case len(c.Paths) == 0:
		return fmt.Sprintf("it does not say which file commit %s changed", c.Commit.Short())
	}
	for _, p := range c.Paths {
		if !slices.Contains(behind[i].Paths, p) {
			return fmt.Sprintf("commit %s did not change %s", c.Commit.Short(), p)
		}
	}
	c.Commit = sia.SHA(behind[i].SHA)
	return ""
}
