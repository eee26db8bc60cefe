package github

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/lease"
	"github.com/sia-bot/sia/sia"
)

// TestWritesNeedTheLease: after its lease has expired, a worker may read but not write, neither over REST nor over
// GraphQL, nor in a retry.
func TestWritesNeedTheLease(t *testing.T) {
	w := start(t, "/")
	w.json("GET /repositories/42/issues/12", 200, issue12)
	const react, graphql, status = "POST /repos/acme/shop/issues/12/reactions", "POST /graphql",
		"PATCH /repos/acme/shop/issues/comments/7"
	w.json(react, 201, `{"id":1}`)
	w.json(graphql, 200, `{"data":{"markPullRequestReadyForReview":{"pullRequest":{"isDraft":false}}}}`)
	held := lease.Until(time.Now().Add(time.Hour))
	w.HandleFunc(status, func(rw http.ResponseWriter, _ *http.Request) {
		held.Extend(time.Now())
		answer(rw, 503, `{"message":"unicorn"}`)
	})
	ctx := lease.With(context.Background(), held)
	writes := map[string]func() error{
		react:   func() error { return w.repo().React(ctx, sia.Origin{OnIssue: 12}, "eyes") },
		graphql: func() error { return w.repo().MarkReady(ctx, "PR_1") },
	}
	for path, write := range writes {
		if err := write(); err != nil || len(w.got(path)) != 1 {
			t.Errorf("with the lease %s was sent %d times: %v", path, len(w.got(path)), err)
		}
	}
	body := map[string]string{"body": "now"}
	err := w.repo().rest.send(ctx, http.MethodPatch, "issues/comments/7", body, nil)
	if !errors.Is(err, lease.ErrLost) || len(w.got(status)) != 1 {
		t.Errorf("between two tries: sent %d times, %v", len(w.got(status)), err)
	}
	for path, write := range writes {
		err := write()
		if sia.IsPermanent(err) || err == nil || !strings.Contains(err.Error(), "nothing was written to GitHub") ||
			len(w.got(path)) != 1 {
			t.Errorf("without the lease %s was sent %d times: %v", path, len(w.got(path)), err)
		}
	}
	if _, err := w.repo().Issue(ctx, 12); err != nil {
		t.Errorf("reading needs no lease: %v", err)
	}
}
