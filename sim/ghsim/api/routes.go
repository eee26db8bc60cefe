package api

// routeTable is the simulated REST API with the required credentials: an installation token's permission, "app" for an
// app's JSON Web Token, "user" for a person's token, "client" for an app's client id and secret, "none" for none.
// Issues and comments check their permission themselves, because a pull request's are accessible with either of two.
// Where two patterns match, the first one is used.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
func routeTable() []route {
	const repo = "/repos/{owner}/{repo}"
	var rs []route
	on := func(method, pattern, auth string, handle func(*call) (answer, error)) {
		rs = append(rs, newRoute(method, pattern, auth, handle))
	}

	on("GET", "/rate_limit", "none", getRateLimit)
	on("GET", "/users/{username}", "none", getUser)
	on("POST", "/graphql", "metadata:read", with(graphql))

	on("GET", "/user", "user", getSelf)
	on("GET", "/user/installations", "user", listSelfInstallations)
	on("GET", "/user/installations/{id}/repositories", "user", listSelfRepos)
	on("POST", "/app-manifests/{code}/conversions", "none", convertManifest)

	on("DELETE", "/applications/{client_id}/token", "client", with(deleteAppToken))

	on("GET", "/app", "app", getApp)
	on("GET", "/app/installations", "app", listInstallations)
	on("GET", "/app/installations/{id}", "app", of((*call).installation, getInstallation))
	on("POST", "/app/installations/{id}/access_tokens", "app", ofWith((*call).installation, createToken))
	on("GET", "/app/hook/config", "app", getHookConfig)
	on("GET", "/app/hook/deliveries", "app", listDeliveries)
	on("POST", "/app/hook/deliveries/{id}/attempts", "app", of((*call).delivery, redeliver))
	on("GET", repo+"/installation", "app", getRepoInstallation)
	on("GET", "/installation/repositories", "metadata:read", listInstallationRepos)

	on("GET", repo, "metadata:read", getRepo)
	on("GET", "/repositories/{id}", "metadata:read", getRepoByID)
	on("GET", repo+"/collaborators/{username}/permission", "metadata:read", getPermission)

	on("GET", repo+"/issues", "issues:read", listIssues)
	on("POST", repo+"/issues", "issues:write", with(createIssue))
	on("GET", repo+"/issues/comments", "issues:read", listRepoComments)
	on("GET", repo+"/issues/comments/{comment}", "", of((*call).comment, getComment))
	on("PATCH", repo+"/issues/comments/{comment}", "", of((*call).comment, patchComment))
	on("GET", repo+"/issues/comments/{comment}/reactions", "", listReactions)
	on("POST", repo+"/issues/comments/{comment}/reactions", "", createReaction)
	on("GET", repo+"/issues/{number}", "", of((*call).issue, getIssue))
	on("PATCH", repo+"/issues/{number}", "", ofWith((*call).issue, patchIssue))
	on("GET", repo+"/issues/{number}/comments", "", of((*call).issue, listComments))
	on("POST", repo+"/issues/{number}/comments", "", of((*call).issue, createComment))
	on("GET", repo+"/issues/{number}/dependencies/blocked_by", "", of((*call).issue, listBlockedBy))
	on("POST", repo+"/issues/{number}/dependencies/blocked_by", "", ofWith((*call).issue, addBlockedBy))
	on("POST", repo+"/issues/{number}/sub_issues", "", ofWith((*call).issue, addSubIssue))
	on("GET", repo+"/issues/{number}/sub_issues", "", of((*call).issue, listSubIssues))
	on("POST", repo+"/issues/{number}/reactions", "", createReaction)
	on("GET", repo+"/issues/{number}/labels", "", of((*call).issue, listIssueLabels))
	on("POST", repo+"/issues/{number}/labels", "", of((*call).issue, addIssueLabels))
	on("DELETE", repo+"/issues/{number}/labels/{name}", "", of((*call).issue, removeIssueLabel))
	on("GET", repo+"/labels", "issues:read", listLabels)
	on("POST", repo+"/labels", "issues:write", with(createLabel))
	on("GET", repo+"/labels/{name}", "issues:read", of((*call).label, getLabel))
	on("PATCH", repo+"/labels/{name}", "issues:write", ofWith((*call).label, patchLabel))
	on("DELETE", repo+"/labels/{name}", "issues:write", of((*call).label, deleteLabel))

	on("GET", repo+"/pulls", "pull_requests:read", listPulls)
	on("POST", repo+"/pulls", "pull_requests:write", with(createPull))
	on("GET", repo+"/pulls/comments/{review_comment}", "pull_requests:read", of((*call).reviewComment, getReviewComment))
	on("POST", repo+"/pulls/comments/{review_comment}/reactions", "pull_requests:write", createReaction)
	on("GET", repo+"/pulls/{number}", "pull_requests:read", of((*call).pull, getPull))
	on("PATCH", repo+"/pulls/{number}", "pull_requests:write", ofWith((*call).pull, patchPull))
	on("PUT", repo+"/pulls/{number}/merge", "contents:write", ofWith((*call).pull, mergePull))
	on("GET", repo+"/pulls/{number}/reviews", "pull_requests:read", of((*call).pull, listReviews))
	on("POST", repo+"/pulls/{number}/reviews", "pull_requests:write", ofWith((*call).pull, createReview))
	on("GET", repo+"/pulls/{number}/comments", "pull_requests:read", of((*call).pull, listReviewComments))
	on("POST", repo+"/pulls/{number}/comments", "pull_requests:write", ofWith((*call).pull, createReviewComment))
	on("POST", repo+"/pulls/{number}/comments/{review_comment}/replies", "pull_requests:write",
		of((*call).pull, replyToThread))

	on("POST", repo+"/check-runs", "checks:write", with(createCheck))
	on("GET", repo+"/check-runs/{id}", "checks:read", of((*call).check, getCheck))
	on("PATCH", repo+"/check-runs/{id}", "checks:write", ofWith((*call).check, patchCheck))
	on("GET", repo+"/check-runs/{id}/annotations", "checks:read", of((*call).check, listAnnotations))
	on("POST", repo+"/check-runs/{id}/rerequest", "checks:write", of((*call).check, postRerequest))
	on("GET", repo+"/check-suites/{id}", "checks:read", of((*call).suite, getSuite))
	on("GET", repo+"/check-suites/{id}/check-runs", "checks:read", listSuiteChecks)
	on("POST", repo+"/check-suites/{id}/rerequest", "checks:write", of((*call).suite, rerequestSuite))
	on("GET", repo+"/commits", "contents:read", listCommits)
	on("GET", repo+"/commits/{ref...}/check-runs", "checks:read", of((*call).commit, listChecks))
	on("GET", repo+"/commits/{ref...}/check-suites", "checks:read", of((*call).commit, listSuites))
	on("GET", repo+"/commits/{ref...}/status", "statuses:read", combinedStatus)
	on("POST", repo+"/statuses/{sha}", "statuses:write", with(createStatus))
	on("GET", repo+"/commits/{ref...}", "contents:read", of((*call).commit, getCommit))
	on("GET", repo+"/compare/{refs...}", "contents:read", compareCommits)

	on("GET", repo+"/actions/runs", "actions:read", listRuns)
	on("GET", repo+"/actions/runs/{id}", "actions:read", of((*call).run, getRun))
	on("GET", repo+"/actions/runs/{id}/jobs", "actions:read", of((*call).run, listJobs))
	on("GET", repo+"/actions/runs/{id}/artifacts", "actions:read", of((*call).run, listArtifacts))
	on("GET", repo+"/actions/artifacts/{id}/zip", "actions:read", artifactZip)
	on("POST", repo+"/actions/runs/{id}/rerun", "actions:write", of((*call).run, rerunAll))
	on("POST", repo+"/actions/runs/{id}/rerun-failed-jobs", "actions:write", of((*call).run, rerunFailed))
	on("GET", repo+"/actions/jobs/{id}", "actions:read", of((*call).job, getJob))
	on("GET", repo+"/actions/jobs/{id}/logs", "actions:read", of((*call).job, jobLogs))

	on("GET", repo+"/rulesets", "metadata:read", listRulesets)
	on("POST", repo+"/rulesets", "administration:write", with(createRuleset))
	on("DELETE", repo+"/rulesets/{id}", "administration:write", deleteRuleset)
	on("GET", repo+"/rules/branches/{branch...}", "metadata:read", getRules)
	on("GET", repo+"/branches/{branch...}/protection/required_status_checks", "administration:read", getRequiredChecks)
	on("GET", repo+"/branches/{branch...}/protection", "administration:read", getProtection)
	on("GET", repo+"/branches/{branch...}", "contents:read", getBranch)
	on("GET", repo+"/git/ref/{ref...}", "contents:read", getRef)
	on("GET", repo+"/git/matching-refs/{ref...}", "contents:read", listMatchingRefs)
	on("POST", repo+"/git/trees", "contents:write", with(createTree))
	on("POST", repo+"/git/commits", "contents:write", with(createCommit))
	on("POST", repo+"/git/refs", "contents:write", with(createRef))
	on("PATCH", repo+"/git/refs/{ref...}", "contents:write", with(patchRef))
	on("DELETE", repo+"/git/refs/{ref...}", "contents:write", deleteRef)
	on("GET", repo+"/contents/{path...}", "contents:read", contents)
	on("GET", repo+"/contents/", "contents:read", contents)
	return rs
}
