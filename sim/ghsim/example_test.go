package ghsim_test

import (
	"context"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sim/ghsim"
)

// A repository with a workflow that fails for every push, and the observable results.
func Example() {
	hub, err := ghsim.New(ghsim.Config{})
	if err != nil {
		panic(err)
	}
	defer hub.Close()
	if _, err := hub.Start("127.0.0.1:0"); err != nil {
		panic(err)
	}
	hub.CreateUser("dana")
	if _, err := hub.CreateRepo("acme", "shop", ghsim.RepoSpec{Files: map[string]string{
		".github/workflows/ci.yml": "on: push\njobs: {test: {steps: [{run: exit 1}]}}\n",
	}}); err != nil {
		panic(err)
	}
	if err := hub.SetPermission("acme/shop", "dana", "write"); err != nil {
		panic(err)
	}
	sha, err := hub.PushFiles("acme/shop", "topic", "dana", "Change", map[string]string{"x.txt": "x"})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := hub.WaitIdle(ctx); err != nil {
		panic(err)
	}
	checks, err := hub.CheckRuns("acme/shop", sha)
	if err != nil {
		panic(err)
	}
	for _, c := range checks {
		fmt.Println(c.App, c.Name, c.Conclusion)
	}
	for _, e := range hub.Timeline("push.created", "check_run.completed") {
		fmt.Println(e.Kind, e.Actor)
	}
	// Output:
	// github-actions test failure
	// push.created dana
	// check_run.completed github-actions[bot]
}
