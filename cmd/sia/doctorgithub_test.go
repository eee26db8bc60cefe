package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/probe"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sim/ghsim"
)

// sia doctor github tests facts on a server, prints text or JSON, records the answers, and fails if they differ.
func TestDoctorGitHub(t *testing.T) {
	sim, err := ghsim.New(ghsim.Config{NoWorkflows: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sim.Close() })
	url, err := sim.Start("")
	if err != nil {
		t.Fatal(err)
	}
	spec := ghsim.RepoSpec{Files: map[string]string{"README.md": "x\n"}}
	if _, err := sim.CreateRepo("acme", "scratch", spec); err != nil {
		t.Fatal(err)
	}
	registered, err := sim.CreateApp("sia")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.Install(registered.ID, "acme", "scratch"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	key, record := filepath.Join(dir, "key.pem"), filepath.Join(dir, "record.json")
	if err := os.WriteFile(key, registered.PrivateKeyPEM, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, int) {
		var out, errs bytes.Buffer
		code := runCommand(t.Context(), append([]string{"doctor", "github", "--dir", dir, "--github-url", url, "--app-id",
			strconv.FormatInt(registered.ID, 10), "--app-key-file", key, "--write-spacing", "1ns"}, args...), &out, &errs)
		return out.String() + errs.String(), code
	}
	scratch := []string{"--repo", "acme/scratch", "--only", "^(issues/labels|rules/required-check|tokens/hour)$"}

	out, code := run(append(scratch, "--record", record)...)
	for _, want := range []string{"✓ issues/labels", "– rules/required-check", "not tried: the installation lacks " +
		"administration: write", "2 hold, 0 differ, 1 were not tried."} {
		if !strings.Contains(out, want) || code != cli.ExitDone {
			t.Errorf("%d; lacks %q:\n%s", code, want, out)
		}
	}
	var report probe.Report
	b, err := os.ReadFile(record)
	if err != nil || json.Unmarshal(b, &report) != nil || len(report.Results) != 3 ||
		len(report.Results[0].Exchanges) == 0 || bytes.Contains(b, []byte("ghs_")) {
		t.Errorf("record: %v\n%s", err, b)
	}

	sim.FailRequests(ghsim.Once(ghsim.Fault{Status: 418, Times: 100}, func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/labels")
	}))
	out, code = run(append(scratch, "--output", "json")...)
	if code != cli.ExitFailed || json.Unmarshal([]byte(out), &report) != nil || report.Count(probe.Differs) != 1 {
		t.Errorf("%d\n%s", code, out)
	}
	sim.ClearFaults()

	for want, args := range map[string][]string{
		"a repository is given as owner/name": {"--repo", "scratch"},
		"missing closing":                     {"--repo", "acme/scratch", "--only", "("},
		"missing flags: --repo":               nil,
	} {
		if out, code := run(args...); code != cli.ExitUsage || !strings.Contains(out, want) {
			t.Errorf("%v: %d\n%s", args, code, out)
		}
	}
	if out, code := run("--repo", "acme/scratch", "--only", "^nowhere/"); code != cli.ExitFailed ||
		!strings.Contains(out, "no fact is called") {
		t.Errorf("%d\n%s", code, out)
	}
}
