package main

import (
	"log/slog"
	"os/exec"
	"testing"

	"github.com/sia-bot/sia/lab/scale"
)

// Two servers of one database and a runner receive noise and tasks, and nothing is lost or done twice. `sialab bench
// scale` also kills each of them.
//
//test:thorough
func TestScale(t *testing.T) {
	t.Parallel()
	sia, err := exec.LookPath("sia")
	if err != nil {
		t.Fatal(err)
	}
	r, err := scale.Play(t.Context(), scale.Config{Program: sia, Deliveries: 60, Rate: 30, Repositories: 20,
		Installations: 2, Tasks: 2, Servers: 2, Runners: 1, Attempts: 2, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Accepted != 60 || r.Lost+r.Failed != 0 || r.Passed != 2 || len(r.Wrong) != 0 {
		t.Errorf("%d deliveries taken, %d lost, %d failed (%s), %d tasks passed, wrong: %v", r.Accepted, r.Lost, r.Failed,
			r.Failure, r.Passed, r.Wrong)
	}
	// Unrelated deliveries cause no request: only the tasks query GitHub.
	if r.PerMinute == 0 || r.RateLimited != 0 || r.Requests > 2*60+50 {
		t.Errorf("%d requests, %d refused for a limit, at most %d created in a minute: %v", r.Requests, r.RateLimited,
			r.PerMinute, r.Routes)
	}
}
