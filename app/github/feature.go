package github

import (
	"net/http"
	"strings"
)

// feature describes what SIA needs a permission for, in words for those who grant it.
type feature struct{ permission, access, needs string }

// neededFeatures lists the permissions in addition to contents and metadata. app.yml requests the same.
var neededFeatures = []feature{
	{"issues", "write", "read the task, comment, label, and ask people"},
	{"pull_requests", "write", "open the task's pull request and explain itself there"},
	{"checks", "write", "read checks and show its own progress as a check run"},
	{"actions", "write", "read the logs of failed jobs and run flaky ones again"},
	{"statuses", "read", "see commit statuses, which decide whether a task is done"},
}

// purposeOf returns the purpose of a permission.
func purposeOf(permission string) string {
	for _, f := range neededFeatures {
		if f.permission == permission {
			return f.needs
		}
	}
	switch permission {
	case "contents":
		return "read the code and push the task's branch"
	case "metadata":
		return "know repositories and who may do what in them"
	case "administration":
		return "see which checks branch protection requires"
	case "workflows":
		return "push changes to workflow files"
	}
	return "do this"
}

// permissionFor returns the permission that a request needs, by its path: a fallback if GitHub's response does not
// name it.
func permissionFor(method, path string) (permission, access string) {
	access = "write"
	if method == http.MethodGet {
		access = "read"
	}
	for _, p := range []struct{ part, permission string }{
		{"/protection", "administration"},
		{"/check-runs", "checks"}, {"/check-suites", "checks"},
		{"/actions/", "actions"},
		{"/status", "statuses"},
		{"/pulls", "pull_requests"}, {"/graphql", "pull_requests"},
		{"/issues", "issues"}, {"/labels", "issues"},
		{"/rules/", "metadata"}, {"/collaborators/", "metadata"},
		{"/git/", "contents"}, {"/contents/", "contents"}, {"/commits/", "contents"}, {"/branches/", "contents"},
	} {
		if strings.Contains(path, p.part) {
			return p.permission, access
		}
	}
	return "", ""
}
