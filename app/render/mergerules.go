package render

// mergeRules describes the requirements of GitHub's kinds of rules that no check fulfils.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets
var mergeRules = map[string]string{
	"required_signatures":               "signed commits",
	"required_deployments":              "a deployment",
	"code_scanning":                     "code scanning results",
	"code_quality":                      "code quality results",
	"license_compliance_scanning":       "license compliance results",
	"merge_queue":                       "the merge queue",
	"required_linear_history":           "a linear history (squash or rebase)",
	"required_review_thread_resolution": "resolved conversations",
	"commit_message_pattern":            "a pattern of commit messages",
	"commit_author_email_pattern":       "a pattern of authors' e-mail addresses",
	"committer_email_pattern":           "a pattern of committers' e-mail addresses",
	"branch_name_pattern":               "a pattern of branch names",
	"file_path_restriction":             "no changes of restricted files",
	"max_file_path_length":              "file paths up to a length",
	"file_extension_restriction":        "no files of restricted kinds",
	"max_file_size":                     "files up to a size",
	"update":                            "somebody who may update the branch",
}

// MergeRules describes the kinds of rules of a base branch that can block a merge although every check is green.
func MergeRules(kinds []string) []string {
	var out []string
	for _, k := range kinds {
		if said, ok := mergeRules[k]; ok {
			out = append(out, said)
		}
	}
	return out
}
