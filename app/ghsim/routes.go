package ghsim

// routeTable is the REST API: what is simulated, and what an installation's
// token needs for it. "app" wants an app's JSON Web Token, "user" a
// person's token, "none" nothing.
// Issues and comments check their permission themselves, because a pull
// request's are reached with either of two. Where two patterns match, the first
// one counts.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
func (s *Server) routeTable() []route {
	const repo = "/repos/{owner}/{repo}"
	var rs []route
	on := func(method, pattern, auth string, h func(*call) (answer, error)) {
		rs = append(rs, newRoute(method, pattern, auth, h))
	}

	on("GET", "/meta", "none", s.getMeta)
	on("GET", "/rate_limit", "none", s.getRateLimit)
	on("GET", "/users/{username}", "none", s.getUser)
	on("POST", "/graphql", "metadata:read", s.graphql)

	on("GET", "/user", "user", s.getSelf)
	on("GET", "/user/installations", "user", s.listSelfInstallations)
	on("GET", "/user/installations/{id}/repositories", "user", s.listSelfRepos)
	on("POST", "/app-manifests/{code}/conversions", "none", s.convertManifest)

	on("GET", "/app", "app", s.getApp)
	on("GET", "/app/installations", "app", s.listInstallations)
	on("GET", "/app/installations/{id}", "app", s.getInstallation)
	on("POST", "/app/installations/{id}/access_tokens", "app", s.createToken)
	on("GET", "/app/hook/config", "app", s.getHookConfig)
	on("GET", "/app/hook/deliveries", "app", s.listDeliveries)
	on("GET", "/app/hook/deliveries/{id}", "app", s.getDelivery)
	on("POST", "/app/hook/deliveries/{id}/attempts", "app", s.redeliver)
	on("GET", repo+"/installation", "app", s.getRepoInstallation)
	on("GET", "/users/{name}/installation", "app", s.getOwnerInstallation)
	on("GET", "/orgs/{name}/installation", "app", s.getOwnerInstallation)
	on("GET", "/installation/repositories", "metadata:read", s.listInstallationRepos)
	on("DELETE", "/installation/token", "metadata:read", s.revokeToken)

	on("GET", repo, "metadata:read", s.getRepo)
	on("GET", repo+"/collaborators/{username}/permission", "metadata:read", s.getPermission)

	on("GET", repo+"/issues", "issues:read", s.listIssues)
	on("POST", repo+"/issues", "issues:write", s.createIssue)
	on("GET", repo+"/issues/comments", "issues:read", s.listRepoComments)
	on("GET", repo+"/issues/comments/{comment}", "", s.getComment)
	on("PATCH", repo+"/issues/comments/{comment}", "", s.patchComment)
	on("DELETE", repo+"/issues/comments/{comment}", "", s.deleteComment)
	on("GET", repo+"/issues/comments/{comment}/reactions", "", s.listReactions)
	on("POST", repo+"/issues/comments/{comment}/reactions", "", s.createReaction)
	on("DELETE", repo+"/issues/comments/{comment}/reactions/{reaction}", "", s.deleteReaction)
	on("GET", repo+"/issues/{number}", "", s.getIssue)
	on("PATCH", repo+"/issues/{number}", "", s.patchIssue)
	on("POST", repo+"/issues/{number}/assignees", "", s.changeAssignees(true))
	on("DELETE", repo+"/issues/{number}/assignees", "", s.changeAssignees(false))
	on("GET", repo+"/issues/{number}/comments", "", s.listComments)
	on("POST", repo+"/issues/{number}/comments", "", s.createComment)
	on("GET", repo+"/issues/{number}/reactions", "", s.listReactions)
	on("POST", repo+"/issues/{number}/reactions", "", s.createReaction)
	on("DELETE", repo+"/issues/{number}/reactions/{reaction}", "", s.deleteReaction)
	on("GET", repo+"/issues/{number}/labels", "", s.listIssueLabels)
	on("POST", repo+"/issues/{number}/labels", "", s.changeIssueLabels)
	on("PUT", repo+"/issues/{number}/labels", "", s.changeIssueLabels)
	on("DELETE", repo+"/issues/{number}/labels", "", s.changeIssueLabels)
	on("DELETE", repo+"/issues/{number}/labels/{name}", "", s.removeIssueLabel)
	on("GET", repo+"/labels", "issues:read", s.listLabels)
	on("POST", repo+"/labels", "issues:write", s.createLabel)
	on("GET", repo+"/labels/{name}", "issues:read", s.getLabel)
	on("PATCH", repo+"/labels/{name}", "issues:write", s.patchLabel)
	on("DELETE", repo+"/labels/{name}", "issues:write", s.deleteLabel)

	on("GET", repo+"/pulls", "pull_requests:read", s.listPulls)
	on("POST", repo+"/pulls", "pull_requests:write", s.createPull)
	on("GET", repo+"/pulls/comments/{review_comment}", "pull_requests:read", s.getReviewComment)
	on("GET", repo+"/pulls/comments/{review_comment}/reactions", "pull_requests:read", s.listReactions)
	on("POST", repo+"/pulls/comments/{review_comment}/reactions", "pull_requests:write", s.createReaction)
	on("GET", repo+"/pulls/{number}", "pull_requests:read", s.getPull)
	on("PATCH", repo+"/pulls/{number}", "pull_requests:write", s.patchPull)
	on("GET", repo+"/pulls/{number}/files", "pull_requests:read", s.listPullFiles)
	on("GET", repo+"/pulls/{number}/commits", "pull_requests:read", s.listPullCommits)
	on("GET", repo+"/pulls/{number}/reviews", "pull_requests:read", s.listReviews)
	on("GET", repo+"/pulls/{number}/comments", "pull_requests:read", s.listReviewComments)
	on("POST", repo+"/pulls/{number}/comments", "pull_requests:write", s.createReviewComment)
	on("POST", repo+"/pulls/{number}/comments/{review_comment}/replies", "pull_requests:write", s.replyToThread)
	on("GET", repo+"/pulls/{number}/requested_reviewers", "pull_requests:read", s.getReviewers)
	on("POST", repo+"/pulls/{number}/requested_reviewers", "pull_requests:write", s.requestReviewers)

	on("POST", repo+"/check-runs", "checks:write", s.createCheck)
	on("GET", repo+"/check-runs/{id}", "checks:read", s.getCheck)
	on("PATCH", repo+"/check-runs/{id}", "checks:write", s.patchCheck)
	on("GET", repo+"/check-runs/{id}/annotations", "checks:read", s.listAnnotations)
	on("POST", repo+"/check-runs/{id}/rerequest", "checks:write", s.postRerequest)
	on("GET", repo+"/check-suites/{id}", "checks:read", s.getSuite)
	on("GET", repo+"/check-suites/{id}/check-runs", "checks:read", s.listSuiteChecks)
	on("POST", repo+"/check-suites/{id}/rerequest", "checks:write", s.rerequestSuite)
	on("GET", repo+"/commits", "contents:read", s.listCommits)
	on("GET", repo+"/commits/{ref...}/check-runs", "checks:read", s.listChecks)
	on("GET", repo+"/commits/{ref...}/check-suites", "checks:read", s.listSuites)
	on("GET", repo+"/commits/{ref...}/status", "statuses:read", s.combinedStatus)
	on("GET", repo+"/commits/{ref...}/statuses", "statuses:read", s.listStatuses)
	on("POST", repo+"/statuses/{sha}", "statuses:write", s.createStatus)
	on("GET", repo+"/commits/{ref...}", "contents:read", s.getCommit)

	on("GET", repo+"/actions/runs", "actions:read", s.listRuns)
	on("GET", repo+"/actions/runs/{id}", "actions:read", s.getRun)
	on("GET", repo+"/actions/runs/{id}/jobs", "actions:read", s.listJobs)
	on("POST", repo+"/actions/runs/{id}/rerun", "actions:write", s.rerunAll)
	on("POST", repo+"/actions/runs/{id}/rerun-failed-jobs", "actions:write", s.rerunFailed)
	on("GET", repo+"/actions/jobs/{id}", "actions:read", s.getJob)
	on("GET", repo+"/actions/jobs/{id}/logs", "actions:read", s.jobLogs)
	on("POST", repo+"/actions/jobs/{id}/rerun", "actions:write", s.rerunJob)

	on("GET", repo+"/rules/branches/{branch...}", "metadata:read", s.getRules)
	on("GET", repo+"/branches", "contents:read", s.listBranches)
	on("GET", repo+"/branches/{branch...}/protection/required_status_checks", "administration:read", s.getRequiredChecks)
	on("GET", repo+"/branches/{branch...}/protection", "administration:read", s.getProtection)
	on("GET", repo+"/branches/{branch...}", "contents:read", s.getBranch)
	on("GET", repo+"/git/ref/{ref...}", "contents:read", s.getRef)
	on("GET", repo+"/git/matching-refs/{ref...}", "contents:read", s.listMatchingRefs)
	on("POST", repo+"/git/refs", "contents:write", s.createRef)
	on("DELETE", repo+"/git/refs/{ref...}", "contents:write", s.deleteRef)
	on("GET", repo+"/contents/{path...}", "contents:read", s.contents)
	on("GET", repo+"/contents/", "contents:read", s.contents)
	on("GET", repo+"/compare/{base...}...{head...}", "contents:read", s.compare)
	return rs
}
