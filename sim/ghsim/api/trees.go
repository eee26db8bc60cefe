package api

import (
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/payload"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

type treeInput struct {
	Base string `json:"base_tree"`
	Tree []struct {
		Path    string  `json:"path"`
		Mode    string  `json:"mode"`
		Content *string `json:"content"`
	} `json:"tree"`
}

// createTree is POST /repos/{owner}/{repo}/git/trees, for entries with content and for entries with a null SHA, which
// delete. Workflow files require a separate permission.
// https://docs.github.com/en/rest/git/trees#create-a-tree
// https://github.com/googleapis/release-please-action/issues/704
func createTree(c *call, in treeInput) (answer, error) {
	if len(in.Tree) == 0 {
		return answer{}, refusal.Unprocessable("Invalid tree info")
	}
	files := map[string]string{}
	for _, e := range in.Tree {
		if strings.HasPrefix(e.Path, ".github/workflows/") && !c.token.May("workflows", "write") {
			return answer{}, refusal.NotAccessible()
		}
		if files[e.Path] = git.Deleted; e.Content != nil {
			files[e.Path] = *e.Content
		}
	}
	sha, err := c.git.WriteTree(c.repo.Dir, in.Base, files)
	if err != nil {
		return answer{}, refusal.Unprocessable("base_tree is not a valid tree oid")
	}
	entries, err := c.git.List(c.repo.Dir, sha, "", false)
	if err != nil {
		return answer{}, err
	}
	tree := payload.List(entries, func(e git.Entry) object {
		return object{"path": e.Path, "mode": e.Mode, "type": e.Kind, "sha": e.SHA, "size": e.Size,
			"url": c.shape.API("/repos/%s/git/%ss/%s", c.repo.FullName(), e.Kind, e.SHA)}
	})
	return created(object{"sha": sha, "url": c.shape.API("/repos/%s/git/trees/%s", c.repo.FullName(), sha),
		"tree": tree, "truncated": false}), nil
}
