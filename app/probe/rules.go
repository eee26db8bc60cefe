package probe

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// rules are facts about a branch's rules.
func rules() []Fact {
	const needs = "administration:write pull_requests:write contents:write"
	return []Fact{{
		ID: "rules/told-to-everybody",
		Text: "Whether a protected branch wants others up to date is told to administrators alone, and of a " +
			"pull request that is no draft. Rulesets tell everybody.",
		Source: "rest/repos/rules",
		Needs:  "contents:read",
		Probe: func(t *Try) {
			token := t.narrowed(map[string]string{"contents": "read"})
			branch := strings.ReplaceAll(t.raw.DefaultBranch, "/", "%2F")
			a := t.With(token, http.MethodGet, "/branches/"+branch+"/protection/required_status_checks", nil)
			t.Want(a, http.StatusForbidden)
			t.rulesOf(token, branch)
		},
	}, {
		ID: "rules/required-check",
		Text: "A rule tells its type, its ruleset and, of each check that it requires, the context, and the " +
			"app's id where it has to be that app's.",
		Source: "rest/repos/rules",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.sharedBlockedPull()
			a := t.rulesOf(t.raw.Token, p.Base)
			n := slices.Index(a.Each("", "type"), "required_status_checks")
			t.That(n >= 0, "a rule required_status_checks", "%v", a.Each("", "type"))
			at := fmt.Sprint(n)
			t.Equal("the check it requires", a.Str(at+".parameters.required_status_checks.0.context"), requiredCheck)
			t.That(a.Int(at+".ruleset_id") != 0, "the id of its ruleset", "none")
		},
	}, {
		ID:   "rules/never-reports",
		Text: "A required check may never report. GitHub shows it as expected for ever, and the merge as blocked.",
		Source: "pull-requests/collaborating-with-pull-requests/" +
			"collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks",
		Needs: needs,
		Probe: func(t *Try) { t.mergeState(t.sharedBlockedPull(), "BLOCKED") },
	}, {
		ID:   "rules/skipped-counts",
		Text: "A check run that was skipped satisfies what requires it. SIA asks for more.",
		Source: "pull-requests/collaborating-with-pull-requests/" +
			"collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks",
		Needs: needs + " checks:write",
		Probe: func(t *Try) {
			p := t.blockedPull(false)
			t.mergeState(p, "BLOCKED")
			t.checkRun(p.Head, requiredCheck, "skipped")
			t.mergeState(p, "CLEAN", "UNSTABLE", "HAS_HOOKS")
		},
	}, {
		ID:     "rules/unstable",
		Text:   "A check that is red and not required leaves the merge open: `UNSTABLE`.",
		Source: "graphql/reference/enums#mergestatestatus",
		Needs:  "pull_requests:write contents:write checks:write",
		Probe: func(t *Try) {
			p := t.pull(t.base(), nil)
			t.checkRun(p.Head, mark+"-red", "failure")
			t.mergeState(p, "UNSTABLE")
		},
	}, {
		ID:     "rules/behind",
		Text:   "Where a rule wants branches up to date, one that is not is `BEHIND`, once nothing else blocks it.",
		Source: "graphql/reference/enums#mergestatestatus",
		Needs:  needs + " checks:write",
		Probe: func(t *Try) {
			base := t.branch(t.start())
			p := t.pull(base, nil)
			ahead := t.commit(commitSpec{parent: t.start(), files: map[string]string{mark + "-base.txt": "moved\n"}}).Str("sha")
			t.Want(t.push(base, ahead, false), http.StatusOK)
			t.requireChecks(base, true, requiredCheck)
			t.checkRun(p.Head, requiredCheck, "success")
			t.mergeState(p, "BEHIND")
		},
	}, {
		ID:     "rules/draft",
		Text:   "A draft is `DRAFT` and tells nothing of what else is in its way.",
		Source: "graphql/reference/enums#mergestatestatus",
		Needs:  "pull_requests:write contents:write",
		Probe: func(t *Try) {
			p := t.draft()
			t.Until("mergeStateStatus DRAFT, or BLOCKED where drafts are told so", func() bool {
				state := t.look(p).Str("data.repository.pullRequest.mergeStateStatus")
				return state == "DRAFT" || state == "BLOCKED"
			})
		},
	}, {
		ID:     "rules/pages",
		Text:   "The rules of a branch come in pages. SIA reads them to the last.",
		Source: "rest/repos/rules",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.blockedPull(false)
			t.requireChecks(p.Base, false, requiredCheck+"-too")
			t.Until("two pages of one rule", func() bool {
				a := t.Want(t.Get("/rules/branches/%s?per_page=1", p.Base), http.StatusOK)
				return len(a.List("")) == 1 && strings.Contains(a.Header.Get("Link"), `rel="next"`)
			})
		},
	}, {
		ID:     "rules/no-such-branch",
		Text:   "The rules of a branch that does not exist yet are told, too.",
		Source: "rest/repos/rules",
		Probe: func(t *Try) {
			a := t.rulesOf(t.raw.Token, t.unique("none"))
			t.That(a.Status == 0 || a.List("") != nil, "a list", "%s", a)
		},
	}, {
		ID: "rules/commits",
		Text: "GraphQL tells everybody what a branch asks of commits: what its protection wants (`refUpdateRule`), its " +
			"rules, and whether sign-offs are wanted.",
		Source: "graphql/reference/objects#refupdaterule",
		Needs:  needs,
		Probe: func(t *Try) {
			const repository = "data.repository."
			a := t.GraphQL(commitRules, map[string]any{"ref": "refs/heads/" + t.sharedBlockedPull().Base})
			t.That(len(a.List("errors")) == 0, "no errors", "%s", a)
			t.That(contains(a.Each(repository+"ref.rules.nodes", "type"), "REQUIRED_STATUS_CHECKS"),
				"the rule REQUIRED_STATUS_CHECKS", "%v", a.Each(repository+"ref.rules.nodes", "type"))
			t.That(a.Has(repository+"ref.refUpdateRule"), "refUpdateRule, or null without protection", "nothing")
			t.That(a.Has(repository+"webCommitSignoffRequired"), "webCommitSignoffRequired", "nothing")
		},
	}}
}

// requiredCheck is the name of a check that the bench's rules require and that nothing reports.
const requiredCheck = mark + "-required"

// sharedBlockedPull returns a pull request blocked by a required check, for facts that don't change it.
func (t *Try) sharedBlockedPull() Pull {
	return share(t, "guarded", func(t *Try) Pull { return t.blockedPull(false) })
}

// blockedPull opens a pull request into a branch that requires a check.
func (t *Try) blockedPull(strict bool) Pull {
	base := t.branch(t.start())
	p := t.pull(base, nil)
	t.requireChecks(base, strict, requiredCheck)
	return p
}

// rulesOf reads the rules of a branch.
func (t *Try) rulesOf(token, branch string) Answer {
	a := t.With(token, http.MethodGet, "/rules/branches/"+branch, nil)
	if a.Status == http.StatusForbidden && strings.Contains(a.String(), "Upgrade") {
		t.Skip("needs a plan with rulesets, or a public repository")
	}
	return t.Want(a, http.StatusOK)
}

// mergeState waits until a pull request's mergeStateStatus is one of the wanted ones.
func (t *Try) mergeState(p Pull, want ...string) {
	var state string
	t.Until("mergeStateStatus "+strings.Join(want, " or "), func() bool {
		state = t.look(p).Str("data.repository.pullRequest.mergeStateStatus")
		return slices.Contains(want, state)
	})
	if t.result.Verdict == Differs && state != "" {
		t.result.Answered = state
	}
}

const commitRules = `query($owner: String!, $name: String!, $ref: String!) {
	repository(owner: $owner, name: $name) {
		webCommitSignoffRequired
		ref(qualifiedName: $ref) {
			refUpdateRule {
				requiresSignatures requiresLinearHistory requiresConversationResolution requiredStatusCheckContexts
			}
			rules(first: 100) { nodes { type } }
		}
	}
}`
