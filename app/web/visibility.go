package web

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
)

// visibilityOf limits queries to the viewer's repositories.
func visibilityOf(v viewer.Viewer) store.Visibility {
	if v.Operator {
		return store.SeesAll()
	}
	return store.SeesOnly(slices.Collect(maps.Keys(v.Repos))...)
}

// sees refuses anything outside the viewer's rights as if it did not exist.
func sees(r *http.Request, repo int64, role viewer.Role, what string) error {
	if viewer.From(r.Context()).May(repo, role) {
		return nil
	}
	return fmt.Errorf("%s is not the viewer's: %w", what, store.ErrNotFound)
}

// theTask is the task in an address, if the viewer has the role in its repository.
func (s *site) theTask(r *http.Request, role viewer.Role) (sia.Task, error) {
	t, err := s.From.Task(r.Context(), sia.TaskID(r.PathValue("id")))
	if err != nil {
		return t, err
	}
	return t, sees(r, t.Repo.ID, role, "task "+string(t.ID))
}

// theRepository is the repository in a path, by GitHub's id, if the viewer has the role in it.
func (s *site) theRepository(r *http.Request, role viewer.Role) (store.Repository, error) {
	id, err := strconv.ParseInt(r.PathValue("repo"), 10, 64)
	if err != nil {
		return store.Repository{}, fmt.Errorf("repository %q: %w", r.PathValue("repo"), store.ErrNotFound)
	}
	if err := sees(r, id, role, "the repository"); err != nil {
		return store.Repository{}, err
	}
	return s.From.Repository(r.Context(), id)
}

// repoChoice is the repository of a page, or all that the viewer sees.
type repoChoice struct {
	Repo  int64              `json:"repo_id,omitempty"` // 0: all
	Repos []store.Repository `json:"-"`                 // to choose from, by name
	sight store.Visibility
}

// choice reads a page's ?repo=, as owner/name or as GitHub's id.
func (s *site) choice(r *http.Request) (c repoChoice, err error) {
	c.sight = visibilityOf(viewer.From(r.Context()))
	if c.Repos, err = s.From.SeenRepositories(r.Context(), c.sight); err != nil {
		return c, err
	}
	asked := r.URL.Query().Get("repo")
	named := slices.IndexFunc(c.Repos, func(repo store.Repository) bool { return strings.EqualFold(repo.String(), asked) })
	switch {
	case asked == "":
		return c, nil
	case named >= 0:
		c.Repo = c.Repos[named].ID
		return c, nil
	case strings.Contains(asked, "/"):
		return c, fmt.Errorf("repository %q: %w", asked, store.ErrNotFound)
	}
	if c.Repo, err = strconv.ParseInt(asked, 10, 64); err != nil || c.Repo < 1 {
		return c, badRequest("repo: want owner/name of a repository, or GitHub's id of it, a number.")
	}
	return c, sees(r, c.Repo, viewer.Reads, "the repository")
}

// choiceOfOne is choice for a page about one repository: the first, by default.
func (s *site) choiceOfOne(r *http.Request) (c repoChoice, err error) {
	c, err = s.choice(r)
	if c.Repo == 0 && len(c.Repos) > 0 {
		c.Repo = c.Repos[0].ID
	}
	return c, err
}

// name is a repository's display name; its id if the name is unknown.
func (c repoChoice) name(id int64) string {
	if i := slices.IndexFunc(c.Repos, func(r store.Repository) bool { return r.ID == id }); i >= 0 {
		return c.Repos[i].String()
	}
	return fmt.Sprintf("repository %d, which was removed", id)
}
