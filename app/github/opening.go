package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
)

// ownBranch is an example of the branches that attempts are pushed to.
const ownBranch = "sia/issue-1"

// Opening lists what may prevent the app from opening pull requests in a repository.
type Opening struct {
	Repo     string // owner/name
	Archived bool
	Disabled bool // by GitHub
	NoIssues bool // issues are disabled
	NoPulls  bool // pull requests are disabled
	// only collaborators may open pull requests
	CollaboratorsOnly bool
	// nothing has reported on the head of the default branch, which may be because nothing reports on pull requests either
	Silent bool
	// types of rules that can refuse a push to SIA's branches, as in GitHub's API, sorted
	Rules []string
}

// pushRules are the types of rules that can refuse to create a branch or to push to it. Only administrators can see
// who may bypass a rule.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets
var pushRules = map[string]bool{"creation": true, "update": true, "pull_request": true,
	"required_signatures": true, "required_status_checks": true, "workflows": true, "required_linear_history": true,
	"commit_message_pattern": true, "commit_author_email_pattern": true, "committer_email_pattern": true,
	"branch_name_pattern": true, "file_path_restriction": true, "file_extension_restriction": true,
	"max_file_path_length": true, "max_file_size": true}

// silentTime is the time that must be left for looks at checks, which are slow: without it there is none.
const silentTime = time.Minute

// isSilent reports whether nothing has reported on the head of a branch. It is false if that is unknown: the repository
// may be empty, its checks may be hidden from the app, or ctx may end soon.
func (a *App) isSilent(ctx context.Context, installation int64, repo sia.Repo, branch string) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < silentTime {
		return false
	}
	head, err := a.Repo(installation, repo).Checks.Look(ctx, LookAt{SHA: branch})
	return err == nil && len(head.Checks.Runs)+len(head.Checks.Statuses)+len(head.Workflows) == 0
}

// Openings returns, for the first repositories of an installation up to limit, what may prevent the app from opening
// pull requests. It takes one request, and two or more for each of them. more is the number of other repositories.
// https://docs.github.com/en/rest/apps/installations#list-repositories-accessible-to-the-app-installation
func (a *App) Openings(ctx context.Context, installation int64, limit int) (all []Opening, more int, err error) {
	lists := a.installation(installation).lists
	var got struct {
		Total        int `json:"total_count"`
		Repositories []struct {
			ID       int64  `json:"id"`
			Name     string `json:"name"`
			Archived bool   `json:"archived"`
			Disabled bool   `json:"disabled"`
			Issues   *bool  `json:"has_issues"`
			Pulls    *bool  `json:"has_pull_requests"`
			PullsBy  string `json:"pull_request_creation_policy"`
			Default  string `json:"default_branch"`
			Owner    struct {
				Login string `json:"login"`
			} `json:"owner"`
		} `json:"repositories"`
	}
	read := func(path string, out any) error {
		req, err := lists.NewRequest(http.MethodGet, path, nil)
		if err == nil {
			_, err = lists.Do(ctx, req, out)
		}
		return err
	}
	if err := read(fmt.Sprintf("installation/repositories?per_page=%d", min(limit, perPage)), &got); err != nil {
		return nil, 0, a.failure(err, "list repositories of installation %d", installation)
	}
	for _, r := range got.Repositories {
		o := Opening{Repo: r.Owner.Login + "/" + r.Name, Archived: r.Archived, Disabled: r.Disabled,
			NoIssues: r.Issues != nil && !*r.Issues, NoPulls: r.Pulls != nil && !*r.Pulls,
			CollaboratorsOnly: r.PullsBy == "collaborators_only"}
		if validName(r.Owner.Login) && validName(r.Name) && !r.Archived {
			var rules []branchRule
			// Rules apply to branches that don't exist, too.
			branch := url.PathEscape(ownBranch)
			err := read(fmt.Sprintf("repos/%s/rules/branches/%s?per_page=%d", o.Repo, branch, perPage), &rules)
			if err != nil && !hiddenFromApp(err) {
				return nil, 0, a.failure(err, "read the rules for branches of %s", o.Repo)
			}
			for _, rule := range rules {
				if pushRules[rule.Type] {
					o.Rules = append(o.Rules, rule.Type)
				}
			}
			slices.Sort(o.Rules)
			o.Rules = slices.Compact(o.Rules)
			o.Silent = a.isSilent(ctx, installation, sia.Repo{ID: r.ID, Owner: r.Owner.Login, Name: r.Name}, r.Default)
		}
		all = append(all, o)
	}
	return all, max(0, got.Total-len(all)), nil
}
