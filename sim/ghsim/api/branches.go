package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/payload"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// branch is the request's branch, and its head.
func (c *call) branch() (string, string, error) {
	b := c.params["branch"]
	if sha := c.repo.Head(b); sha != "" {
		return b, sha, nil
	}
	return "", "", &refusal.Error{Code: http.StatusNotFound, Message: "Branch not found"}
}

func getBranch(c *call) (answer, error) {
	b, sha, err := c.branch()
	if err != nil {
		return answer{}, err
	}
	r := c.repo
	u := c.shape.API("/repos/%s/branches/%s", r.FullName(), b)
	level := "off"
	contexts := []string{}
	if cs := r.Protection[b]; len(cs) > 0 {
		level, contexts = "non_admins", cs
	}
	return ok(object{
		"name": b, "commit": c.shape.Commit(r, c.git.Facts(r.Dir, sha)), "protected": r.Protected(b),
		"protection_url": u + "/protection",
		"_links":         object{"self": u, "html": c.shape.HTML("/%s/tree/%s", r.FullName(), b)},
		"protection": object{"enabled": r.Protected(b),
			"required_status_checks": object{"enforcement_level": level, "contexts": contexts,
				"checks": shapeContexts(contexts)}},
	}), nil
}

func shapeContexts(contexts []string) []object {
	return payload.List(contexts, func(name string) object { return object{"context": name, "app_id": nil} })
}

// policy is a branch's required status checks.
func (c *call) policy(r *model.Repository, branch string) (object, error) {
	contexts := r.Protection[branch]
	if len(contexts) == 0 {
		return nil, &refusal.Error{Code: http.StatusNotFound, Message: "Branch not protected",
			Doc: "https://docs.github.com/rest/branches/branch-protection#get-branch-protection"}
	}
	u := c.shape.API("/repos/%s/branches/%s/protection/required_status_checks", r.FullName(), branch)
	return object{"url": u, "contexts_url": u + "/contexts", "strict": r.UpToDate(branch), "contexts": contexts,
		"checks": shapeContexts(contexts)}, nil
}

func getRequiredChecks(c *call) (answer, error) {
	b, _, err := c.branch()
	if err != nil {
		return answer{}, err
	}
	p, err := c.policy(c.repo, b)
	if err != nil {
		return answer{}, err
	}
	return ok(p), nil
}

func getProtection(c *call) (answer, error) {
	b, _, err := c.branch()
	if err != nil {
		return answer{}, err
	}
	p, err := c.policy(c.repo, b)
	if err != nil {
		return answer{}, err
	}
	u := c.shape.API("/repos/%s/branches/%s/protection", c.repo.FullName(), b)
	off := object{"enabled": false}
	return ok(object{
		"url": u, "required_status_checks": p, "enforce_admins": object{"url": u + "/enforce_admins", "enabled": false},
		"required_signatures":     object{"url": u + "/required_signatures", "enabled": false},
		"required_linear_history": off, "allow_force_pushes": off, "allow_deletions": off, "block_creations": off,
		"required_conversation_resolution": off, "lock_branch": off, "allow_fork_syncing": off,
	}), nil
}

func getRef(c *call) (answer, error) {
	ref := "refs/" + c.params["ref"]
	if c.repo.Refs[ref] == "" {
		return answer{}, refusal.NotFound()
	}
	return ok(c.shape.Ref(c.repo, ref)), nil
}

func listMatchingRefs(c *call) (answer, error) {
	var refs []string
	for _, ref := range slices.Sorted(maps.Keys(c.repo.Refs)) {
		if strings.HasPrefix(ref, "refs/"+c.params["ref"]) {
			refs = append(refs, ref)
		}
	}
	return page(c, refs, "", func(ref string) object { return c.shape.Ref(c.repo, ref) })
}

// deleteRef is DELETE /repos/{owner}/{repo}/git/refs/{ref}.
func deleteRef(c *call) (answer, error) {
	ref := "refs/" + c.params["ref"]
	if c.repo.Refs[ref] == "" {
		return answer{}, refusal.Unprocessable("Reference does not exist")
	}
	return answer{code: http.StatusNoContent}, c.world.MoveRef(c.repo, c.actor(), ref, "")
}
