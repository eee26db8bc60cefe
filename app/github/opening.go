package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// ownBranch is a branch such as those that attempts are pushed to.
const ownBranch = "sia/issue-1"

// Opening is what may keep the app from opening pull requests in a repository.
type Opening struct {
	Repo     string // owner/name
	Archived bool
	Disabled bool // by GitHub
	NoIssues bool // they are switched off
	NoPulls  bool // likewise
	// only collaborators may open pull requests
	CollaboratorsOnly bool
	// kinds of rules that can refuse a push to SIA's branches, as GitHub's API spells them, sorted
	Rules []string
}

// refusing are the kinds of rules that can refuse to make a branch or to push to it. Who may bypass a
// rule is told to administrators only.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets
var refusing = map[string]bool{"creation": true, "update": true, "non_fast_forward": true, "pull_request": true,
	"required_signatures": true, "required_status_checks": true, "workflows": true, "required_linear_history": true,
	"commit_message_pattern": true, "commit_author_email_pattern": true, "committer_email_pattern": true,
	"branch_name_pattern": true, "file_path_restriction": true, "file_extension_restriction": true,
	"max_file_path_length": true, "max_file_size": true}

// Openings tells for the first repositories of an installation, at most so many, what may keep the
// app from opening pull requests. It takes a request, and one more for each of them. more is how many
// there are besides.
// https://docs.github.com/en/rest/apps/installations#list-repositories-accessible-to-the-app-installation
func (a *App) Openings(ctx context.Context, installation int64, most int) (all []Opening, more int, err error) {
	lists := a.installation(installation).lists
	var got struct {
		Total        int `json:"total_count"`
		Repositories []struct {
			Name     string `json:"name"`
			Archived bool   `json:"archived"`
			Disabled bool   `json:"disabled"`
			Issues   *bool  `json:"has_issues"`
			Pulls    *bool  `json:"has_pull_requests"`
			PullsBy  string `json:"pull_request_creation_policy"`
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
	if err := read(fmt.Sprintf("installation/repositories?per_page=%d", min(most, perPage)), &got); err != nil {
		return nil, 0, a.failure(err, "list repositories of installation %d", installation)
	}
	for _, r := range got.Repositories {
		o := Opening{Repo: r.Owner.Login + "/" + r.Name, Archived: r.Archived, Disabled: r.Disabled,
			NoIssues: r.Issues != nil && !*r.Issues, NoPulls: r.Pulls != nil && !*r.Pulls,
			CollaboratorsOnly: r.PullsBy == "collaborators_only"}
		if validName(r.Owner.Login) && validName(r.Name) && !r.Archived {
			var rules []branchRule
			// A branch that does not exist has rules, too.
			branch := url.PathEscape(ownBranch)
			err := read(fmt.Sprintf("repos/%s/rules/branches/%s?per_page=%d", o.Repo, branch, perPage), &rules)
			if err != nil && !hiddenFromApp(err) {
				return nil, 0, a.failure(err, "read the rules for branches of %s", o.Repo)
			}
			for _, rule := range rules {
				if refusing[rule.Type] {
					o.Rules = append(o.Rules, rule.Type)
				}
			}
			slices.Sort(o.Rules)
			o.Rules = slices.Compact(o.Rules)
		}
		all = append(all, o)
	}
	return all, max(0, got.Total-len(all)), nil
}
