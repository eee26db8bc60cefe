package app_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/lease"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/scripted"
)

// The application does not push for a worker with an expired lease, and pushes for one that holds it.
func TestPushNeedsTheLease(t *testing.T) {
	t.Parallel()
	sim, _, v := crashWorld(t, nil, scripted.Script{}, map[string]string{"a.txt": "a\n"})
	installation, err := sim.Install(v.Config.GitHub.AppID, apptest.Owner, apptest.Name)
	check(t, err)
	p, err := app.OpenParts(t.Context(), v.Config, app.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	check(t, err)
	t.Cleanup(func() { check(t, p.Store.Close()) })
	id, _, _ := strings.Cut(string(v.Task), "-")
	number, err := strconv.ParseInt(id, 10, 64)
	check(t, err)
	repo := p.Worker.GitHub.Repo(installation, sia.Repo{ID: number, Owner: apptest.Owner, Name: apptest.Name})
	mirror := p.Worker.Git.Repo(repo.Remote())
	push := func(end time.Time) error {
		_, _, err := mirror.CommitFiles(lease.With(t.Context(), lease.Until(end)), gitops.FilesSpec{
			Branch: "noted", Message: "Note", Author: gitops.Signature{Name: "a", Email: "a@localhost", When: time.Unix(1, 0)},
			Update: func(func(string) ([]byte, error)) (map[string][]byte, error) {
				return map[string][]byte{"note.txt": []byte("b\n")}, nil
			}})
		return err
	}
	if err := push(time.Now()); !errors.Is(err, lease.ErrLost) {
		t.Errorf("with a lease that ran out: %v", err)
	}
	if _, there, err := repo.Head(context.Background(), "noted"); err != nil || there {
		t.Errorf("the branch is there: %v, %v", there, err)
	}
	check(t, push(time.Now().Add(time.Hour)))
}
