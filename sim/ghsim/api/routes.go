package api

// routeTable is the REST API: what is simulated, and what an installation's
// token needs for it. "app" wants an app's JSON Web Token, "user" a
// person's token, "client" an app's client id and secret, "none" nothing.
// Issues and comments check their permission themselves, because a pull
// request's are reached with either of two. Where two patterns match, the first
// one counts.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
func routeTable() []route {
	const repo = "/repos/{owner}/{repo}"
	var rs []route
	on := func(method, pattern, auth string, handle func(*call) (answer, error)) {
		rs = append(rs, newRoute(method, pattern, auth, handle))
	}

	on("GET", "/meta", "none", getMeta)
	on("GET", "/rate_limit", "none", getRateLimit)
	on("GET", "/users/{username}", "none", getUser)
	on("POST", "/graphql", "metadata:read", graphql)

	on("GET", "/user", "user", getSelf)
	on("GET", "/user/installations", "user", listSelfInstallations)
	on("GET", "/user/installations/{id}/repositories", "user", listSelfRepos)
	on("POST", "/app-manifests/{code}/conversions", "none", convertManifest)

	on("DELETE", "/applications/{client_id}/token", "client", deleteAppToken)

	on("GET", "/app", "app", getApp)
	on("GET", "/app/installations", "app", listInstallations)
	on("GET", "/app/installations/{id}", "app", getInstallation)
	on("POST", "/app/installations/{id}/access_tokens", "app", createToken)
	on("GET", "/app/hook/config", "app", getHookConfig)
	on("GET", "/app/hook/deliveries", "app", listDeliveries)
	on("GET", "/app/hook/deliveries/{id}", "app", getDelivery)
	on("POST", "/app/hook/deliveries/{id}/attempts", "app", redeliver)
	on("GET", repo+"/installation", "app", getRepoInstallation)
	on("GET", "/users/{name}/installation", "app", getOwnerInstallation)
	on("GET", "/orgs/{name}/installation", "app", getOwnerInstallation)
	on("GET", "/installation/repositories", "metadata:read", listInstallationRepos)
	on("DELETE", "/installation/token", "metadata:read", revokeToken)

	on("GET", repo, "metadata:read", getRepo)
	on("GET", "/repositories/{id}", "metadata:read", getRepoByID)
	on("GET", repo+"/collaborators/{username}/permission", "metadata:read", getPermission)

	on("GET", repo+"/issues", "issues:read", listIssues)
	on("POST", repo+"/issues", "issues:write", createIssue)
	on("GET", repo+"/issues/comments", "issues:read", listRepoComments)
	on("GET", repo+"/issues/comments/{comment}", "", getComment)
	on("PATCH", repo+"/issues/comments/{comment}", "", patchComment)
	on("DELETE", repo+"/issues/comments/{comment}", "", deleteComment)
	on("GET", repo+"/issues/comments/{comment}/reactions", "", listReactions)
	on("POST", repo+"/issues/comments/{comment}/reactions", "", createReaction)
	on("GET", repo+"/issues/{number}", "", getIssue)
	on("PATCH", repo+"/issues/{number}", "", patchIssue)
	on("GET", repo+"/issues/{number}/comments", "", listComments)
	on("POST", repo+"/issues/{number}/comments", "", createComment)
	on("GET", repo+"/issues/{number}/dependencies/blocked_by", "", listBlockedBy)
	on("POST", repo+"/issues/{number}/dependencies/blocked_by", "", addBlockedBy)
	on("POST", repo+"/issues/{number}/sub_issues", "", addSubIssue)
	on("GET", repo+"/issues/{number}/sub_issues", "", listSubIssues)
	on("POST", repo+"/issues/{number}/reactions", "", createReaction)
	on("GET", repo+"/issues/{number}/labels", "", listIssueLabels)
	on("POST", repo+"/issues/{number}/labels", "", changeIssueLabels)
	on("PUT", repo+"/issues/{number}/labels", "", changeIssueLabels)
	on("DELETE", repo+"/issues/{number}/labels/{name}", "", removeIssueLabel)
	on("GET", repo+"/labels", "issues:read", listLabels)
	on("POST", repo+"/labels", "issues:write", createLabel)
	on("GET", repo+"/labels/{name}", "issues:read", getLabel)
	on("PATCH", repo+"/labels/{name}", "issues:write", patchLabel)
	on("DELETE", repo+"/labels/{name}", "issues:write", deleteLabel)

	on("GET", repo+"/pulls", "pull_requests:read", listPulls)
	on("POST", repo+"/pulls", "pull_requests:write", createPull)
	on("GET", repo+"/pulls/comments/{review_comment}", "pull_requests:read", getReviewComment)
	on("POST", repo+"/pulls/comments/{review_comment}/reactions", "pull_requests:write", createReaction)
	on("GET", repo+"/pulls/{number}", "pull_requests:read", getPull)
	on("PATCH", repo+"/pulls/{number}", "pull_requests:write", patchPull)
	on("PUT", repo+"/pulls/{number}/merge", "contents:write", mergePull)
	on("GET", repo+"/pulls/{number}/files", "pull_requests:read", listPullFiles)
	on("GET", repo+"/pulls/{number}/commits", "pull_requests:read", listPullCommits)
	on("GET", repo+"/pulls/{number}/reviews", "pull_requests:read", listReviews)
	on("POST", repo+"/pulls/{number}/reviews", "pull_requests:write", createReview)
	on("GET", repo+"/pulls/{number}/comments", "pull_requests:read", listReviewComments)
	on("POST", repo+"/pulls/{number}/comments", "pull_requests:write", createReviewComment)
	on("POST", repo+"/pulls/{number}/comments/{review_comment}/replies", "pull_requests:write", replyToThread)

	on("POST", repo+"/check-runs", "checks:write", createCheck)
	on("GET", repo+"/check-runs/{id}", "checks:read", getCheck)
	on("PATCH", repo+"/check-runs/{id}", "checks:write", patchCheck)
	on("GET", repo+"/check-runs/{id}/annotations", "checks:read", listAnnotations)
	on("POST", repo+"/check-runs/{id}/rerequest", "checks:write", postRerequest)
	on("GET", repo+"/check-suites/{id}", "checks:read", getSuite)
	on("GET", repo+"/check-suites/{id}/check-runs", "checks:read", listSuiteChecks)
	on("POST", repo+"/check-suites/{id}/rerequest", "checks:write", rerequestSuite)
	on("GET", repo+"/commits", "contents:read", listCommits)
	on("GET", repo+"/commits/{ref...}/check-runs", "checks:read", listChecks)
	on("GET", repo+"/commits/{ref...}/check-suites", "checks:read", listSuites)
	on("GET", repo+"/commits/{ref...}/status", "statuses:read", combinedStatus)
	on("GET", repo+"/commits/{ref...}/statuses", "statuses:read", listStatuses)
	on("POST", repo+"/statuses/{sha}", "statuses:write", createStatus)
	on("GET", repo+"/commits/{ref...}", "contents:read", getCommit)

	on("GET", repo+"/actions/runs", "actions:read", listRuns)
	on("GET", repo+"/actions/runs/{id}", "actions:read", getRun)
	on("GET", repo+"/actions/runs/{id}/jobs", "actions:read", listJobs)
	on("GET", repo+"/actions/runs/{id}/artifacts", "actions:read", listArtifacts)
	on("GET", repo+"/actions/artifacts/{id}/zip", "actions:read", artifactZip)
	on("POST", repo+"/actions/runs/{id}/rerun", "actions:write", rerunAll)
	on("POST", repo+"/actions/runs/{id}/rerun-failed-jobs", "actions:write", rerunFailed)
	on("GET", repo+"/actions/jobs/{id}", "actions:read", getJob)
	on("GET", repo+"/actions/jobs/{id}/logs", "actions:read", jobLogs)
	on("POST", repo+"/actions/jobs/{id}/rerun", "actions:write", rerunJob)

	on("GET", repo+"/rulesets", "metadata:read", listRulesets)
	on("POST", repo+"/rulesets", "administration:write", createRuleset)
	on("DELETE", repo+"/rulesets/{id}", "administration:write", deleteRuleset)
	on("GET", repo+"/rules/branches/{branch...}", "metadata:read", getRules)
	on("GET", repo+"/branches/{branch...}/protection/required_status_checks", "administration:read", getRequiredChecks)
	on("GET", repo+"/branches/{branch...}/protection", "administration:read", getProtection)
	on("GET", repo+"/branches/{branch...}", "contents:read", getBranch)
	on("GET", repo+"/git/ref/{ref...}", "contents:read", getRef)
	on("GET", repo+"/git/matching-refs/{ref...}", "contents:read", listMatchingRefs)
	on("POST", repo+"/git/trees", "contents:write", createTree)
	on("POST", repo+"/git/commits", "contents:write", createCommit)
	on("POST", repo+"/git/refs", "contents:write", createRef)
	on("PATCH", repo+"/git/refs/{ref...}", "contents:write", patchRef)
	on("DELETE", repo+"/git/refs/{ref...}", "contents:write", deleteRef)
	on("GET", repo+"/contents/{path...}", "contents:read", contents)
	on("GET", repo+"/contents/", "contents:read", contents)
	return rs
}
