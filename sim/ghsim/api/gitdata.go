package api

import (
	"slices"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// person is the author or the committer in a request.
type person struct {
	Name  string     `json:"name"`
	Email string     `json:"email"`
	Date  *time.Time `json:"date"`
}

type commitInput struct {
	Message   string   `json:"message"`
	Tree      string   `json:"tree"`
	Parents   []string `json:"parents"`
	Author    *person  `json:"author"`
	Committer *person  `json:"committer"`
	Signature string   `json:"signature"`
}

// createCommit is POST /repos/{owner}/{repo}/git/commits. One made by an app without an author or a committer is the
// app's, and GitHub signs it.
// https://docs.github.com/en/rest/git/commits#create-a-commit
// https://docs.github.com/en/authentication/managing-commit-signature-verification/about-commit-signature-verification#signature-verification-for-bots
func createCommit(c *call, in commitInput) (answer, error) {
	for _, p := range in.Parents {
		if at, found := c.world.CommitOf(c.repo, p); !found || at != p {
			return answer{}, refusal.Unprocessable("Parent SHA does not exist or is not a commit object")
		}
	}
	by, own := c.signature(), in.Author == nil && in.Committer == nil && in.Signature == ""
	if in.Author != nil {
		by.Name, by.Email = in.Author.Name, in.Author.Email
		if in.Author.Date != nil {
			by.At = *in.Author.Date
		}
	}
	sha, err := c.git.CommitTree(c.repo.Dir, in.Tree, in.Parents, in.Message, by)
	if err != nil {
		return answer{}, refusal.Unprocessable("Tree SHA does not exist")
	}
	c.repo.Signed[sha] = own && c.token.User == nil
	return created(c.shape.GitCommit(c.repo, c.git.Facts(c.repo.Dir, sha))), nil
}

// signature is the requester, as in commits.
func (c *call) signature() git.Signature {
	u := c.actor().User
	return git.Signature{Name: u.Login, Email: u.Email(), At: c.world.Now()}
}

// refInput is the body of making or moving a ref.
type refInput struct {
	Ref   string `json:"ref"`
	SHA   string `json:"sha"`
	Force bool   `json:"force"`
}

// createRef is POST /repos/{owner}/{repo}/git/refs.
// https://docs.github.com/en/rest/git/refs#create-a-reference
func createRef(c *call, in refInput) (answer, error) {
	if c.repo.Refs[in.Ref] != "" {
		return answer{}, refusal.Unprocessable("Reference already exists")
	}
	return c.moveRef(in, created)
}

// patchRef is PATCH /repos/{owner}/{repo}/git/refs/{ref}.
// https://docs.github.com/en/rest/git/refs#update-a-reference
func patchRef(c *call, in refInput) (answer, error) {
	in.Ref = "refs/" + c.params["ref"]
	old := c.repo.Refs[in.Ref]
	switch {
	case old == "":
		return answer{}, refusal.Unprocessable("Reference does not exist")
	case !in.Force && !c.git.IsAncestor(c.repo.Dir, old, in.SHA):
		return answer{}, refusal.Unprocessable("Update is not a fast forward")
	}
	return c.moveRef(in, ok)
}

func (c *call) moveRef(in refInput, answered func(any) answer) (answer, error) {
	at, found := c.world.CommitOf(c.repo, in.SHA)
	if !found || at != in.SHA {
		return answer{}, refusal.Unprocessable("Object does not exist")
	}
	if slices.Contains(c.repo.Guarded(), in.Ref) {
		return answer{}, refusal.Unprocessable("Changes must be made through a pull request.")
	}
	if err := c.world.MoveRef(c.repo, c.actor(), in.Ref, in.SHA); err != nil {
		return answer{}, err
	}
	return answered(c.shape.Ref(c.repo, in.Ref)), nil
}
