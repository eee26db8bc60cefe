package github

import (
	"context"
	"fmt"
	"net/http"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// rest sends requests of the REST API on one repository that go-github has no suitable method for.
type rest struct {
	gh   *gh.Client
	repo sia.Repo
}

// send makes a request below the repository.
func (r *rest) send(ctx context.Context, method, path string, in, out any) error {
	_, err := r.exchange(ctx, method, "repos/"+r.repo.String()+"/"+path, in, out)
	return err
}

// page reads one page of a list below the repository.
func (r *rest) page(ctx context.Context, path string, out any) (*gh.Response, error) {
	return r.exchange(ctx, http.MethodGet, "repos/"+r.repo.String()+"/"+path, nil, out)
}

// readByID reads something below the repository by its id: another repository may have its name by now, and if that
// one is public, a token reads it as well.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
func (r *rest) readByID(ctx context.Context, path string, out any) error {
	_, err := r.exchange(ctx, http.MethodGet, fmt.Sprintf("repositories/%d/%s", r.repo.ID, path), nil, out)
	return err
}

func (r *rest) exchange(ctx context.Context, method, path string, in, out any) (*gh.Response, error) {
	req, err := r.gh.NewRequest(method, path, in)
	if err != nil {
		return nil, err
	}
	return r.gh.Do(ctx, req, out)
}
