package agent_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
)

// withServices is a workflow with PostgreSQL, and a service that can't be started here.
const withServices = `on: push
jobs:
  test:
    runs-on: ubuntu-latest
    services:
      db: {image: postgres, env: {POSTGRES_PASSWORD: pw}, ports: ["5432:5432"]}
      queue: {image: "rabbitmq:3", ports: ["5672:5672"]}
    steps:
      - run: make test
`

func writeWorkflow(t *testing.T, dir string) {
	t.Helper()
	p := filepath.Join(dir, ".github", "workflows", "ci.yml")
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(withServices), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestServices tests that setup and the agent's commands use the same PostgreSQL, and unavailable services are reported
// once.
func TestServices(t *testing.T) {
	const psql = "psql -XAtq postgres://postgres:pw@localhost/postgres -c "
	b := contained(t, turns(command(psql+"'SELECT x FROM t'"), command(psql+"'SELECT x + 1 FROM t'"), done), t.TempDir(),
		func(c *containment) { c.box = sandboxtest.New(t, sandbox.Options{Self: forwarding(t)}) })
	writeWorkflow(t, b.in.Dir)
	b.in.Setup = []string{psql + "'CREATE TABLE t AS SELECT 41 AS x'"}
	b.run()
	got := b.results("run")
	if len(got) != 2 || got[0] != "exit status 0\n41\n" || got[1] != "exit status 0\n42\n" {
		t.Errorf("%q, %s", got, b.rec.notes())
	}
	brief := b.rec.turns[0].Text
	const missing = "The service queue (rabbitmq:3) is not started here: SIA does not know this image."
	if !strings.Contains(brief, "PostgreSQL for the service db (postgres) at localhost:5432") ||
		strings.Count(brief, missing) != 1 || strings.Count(b.rec.notes(), missing) != 1 {
		t.Errorf("%s\n%s", brief, b.rec.notes())
	}
}

// TestCommandsHaveServices tests that checks of `sia run` have services, too.
func TestCommandsHaveServices(t *testing.T) {
	dir := t.TempDir()
	writeWorkflow(t, dir)
	c, err := agent.NewCommands(sandboxtest.New(t, sandbox.Options{Self: forwarding(t)}), t.TempDir(), nil,
		time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	res, failed, err := c.Run(t.Context(), agent.Input{Repo: "o/r", Dir: dir},
		"psql -XAtq postgres://postgres:pw@localhost/postgres -c 'SELECT 42'", 5*time.Minute, nil)
	if err != nil || !res.OK() || string(res.Output) != "42\n" || !strings.Contains(failed, "service queue (rabbitmq:3)") {
		t.Errorf("%v: %s %q %q", err, res, res.Output, failed)
	}
}
