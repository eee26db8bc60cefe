package service_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/agent/service"
)

// TestMain lets the test binary act as the program inside a sandbox, as `sia forward` does, and as a server.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "forward" {
		os.Exit(sandbox.Forward(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "server" {
		if err := service.RunServer(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func newBox(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return sandboxtest.New(t, sandbox.Options{Self: []string{self, "forward"}})
}

// bench is a work tree with a workflow that names services, and the folder of their data.
type bench struct {
	*testing.T
	box        *sandbox.Sandbox
	tree, data string
}

func newBench(t *testing.T, services string) *bench {
	t.Helper()
	b := &bench{t, newBox(t), filepath.Join(t.TempDir(), "tree"), filepath.Join(t.TempDir(), "data")}
	b.write(".github/workflows/ci.yml", workflow(services))
	if err := os.Mkdir(b.data, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the sandbox's user wrote there
		if err := sandbox.RemoveAll(b.data); err != nil {
			t.Error(err)
		}
	})
	return b
}

func workflow(services string) string {
	return "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    services:\n" +
		strings.ReplaceAll("      "+strings.TrimSpace(services), "\n", "\n      ") +
		"\n    steps:\n      - run: make test\n"
}

func (b *bench) write(name, text string) {
	b.Helper()
	p := filepath.Join(b.tree, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

// run runs a command with the services.
func (b *bench) run(first bool, command string) sandbox.Result {
	b.Helper()
	c := sandbox.Command{Dir: b.tree, Shell: command, Limits: sandbox.Limits{Time: 10 * time.Minute}}
	service.Find(b.box, b.tree, nil).Join(&c, b.data, first)
	r, err := b.box.Run(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

const shop = `
db:
  image: postgres:16-alpine@sha256:0123456789abcdef
  env:
    POSTGRES_USER: shop
    POSTGRES_PASSWORD: "it's $(secret)"
    POSTGRES_DB: 'orders "1"'
  ports: ["15432:5432"]
  options: >-
    --health-cmd pg_isready
    --health-interval 10s
`

const psql = `export PGPASSWORD="it's \$(secret)"; psql -XAtv ON_ERROR_STOP=1 -U shop -d 'orders "1"' `

// TestPostgreSQL tests a workflow with PostgreSQL. The repository's tests can use the user, password and database in
// it, at the mapped port and by the service's name; data is kept for the next command.
func TestPostgreSQL(t *testing.T) {
	b := newBench(t, shop)
	set := service.Find(b.box, b.tree, nil)
	if len(set.Missing) > 0 || !strings.Contains(set.Told(), "localhost:15432 and localhost:5432") {
		t.Fatalf("%q\n%s", set.Missing, set.Told())
	}
	r := b.run(true, psql+`-h localhost -p 15432 -c "CREATE TABLE t (x int)" -c "INSERT INTO t VALUES (41)" && `+
		psql+`-h db -c "SELECT x + 1, current_user, current_database(), pg_encoding_to_char(6) FROM t"`)
	if !r.OK() || !strings.Contains(string(r.Output), `42|shop|orders "1"|UTF8`) {
		t.Fatalf("%s\n%s", r, r.Output)
	}
	r = b.run(false, psql+`-h db -c "SELECT x + 2 FROM t"`) // this connection starts the server
	if !r.OK() || strings.TrimSpace(string(r.Output)) != "43" {
		t.Fatalf("%s\n%s", r, r.Output)
	}
	r = b.run(false, `PGPASSWORD=other psql -XAt -h db -U shop -d postgres -c "SELECT 1"`)
	if r.OK() || !strings.Contains(string(r.Output), "password authentication failed") {
		t.Errorf("another password: %s\n%s", r, r.Output)
	}
}

// TestRestricted tests that a server has the same restrictions as the command: PostgreSQL lets its superuser run
// programs.
func TestRestricted(t *testing.T) {
	b := newBench(t, "db: {image: postgres}")
	if b.box.Capability().Landlock == 0 {
		t.Log("this kernel has no Landlock: mounts alone hold the server")
	}
	b.write(".git/config", "")
	r := b.run(false, `psql -XAt -h db -U postgres -c "COPY (SELECT 1) TO PROGRAM 'cat > /workspace/.git/config'"
		psql -XAt -h db -U postgres -c "COPY (SELECT 1) TO PROGRAM 'cat > /proc/self/comm'"
		psql -XAt -h db -U postgres -c "COPY (SELECT 1) TO PROGRAM 'unshare -U cat'"
		psql -XAt -h db -U postgres -c "COPY (SELECT 1) TO PROGRAM 'cat > /workspace/ran'"`)
	text, err := os.ReadFile(filepath.Join(b.tree, "ran"))
	if err != nil || string(text) != "1\n" {
		t.Fatalf("%v %q: %s\n%s", err, text, r, r.Output)
	}
	want := 3
	if b.box.Capability().Landlock == 0 {
		want = 2
	}
	if got := strings.Count(string(r.Output), "ERROR:"); got != want {
		t.Errorf("%d of %d were refused:\n%s", got, want, r.Output)
	}
}

// TestNothingOutlives tests that a server ends with its command.
func TestNothingOutlives(t *testing.T) {
	b := newBench(t, "db: {image: postgres}")
	r := b.run(true, `psql -XAt -h db -U postgres -c "SELECT 1"; ls /proc/*/exe -l | grep -c postgres`)
	if !strings.HasPrefix(string(r.Output), "1\n") {
		t.Fatalf("%s\n%s", r, r.Output)
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range lines {
		if text, err := os.ReadFile(p); err == nil && strings.Contains(string(text), service.At+"/0/run") {
			t.Errorf("%s: %q", p, text)
		}
	}
}

// TestNotReady tests that the log of a server that does not start is in the command's output, and the command still
// runs.
func TestNotReady(t *testing.T) {
	b := newBench(t, "db: {image: postgres}")
	if err := os.WriteFile(filepath.Join(b.data, "0"), nil, 0o600); err != nil { // at the path of its folder
		t.Fatal(err)
	}
	r := b.run(true, "echo went on")
	if !r.OK() || !strings.Contains(string(r.Output), "db did not start in the sandbox: exit status") ||
		!strings.Contains(string(r.Output), "went on") {
		t.Errorf("%s\n%s", r, r.Output)
	}
	r = b.run(false, `psql -XAt -h db -U postgres -c "SELECT 1"`)
	if r.OK() || !strings.Contains(string(r.Output), "db did not start in the sandbox") {
		t.Errorf("%s\n%s", r, r.Output)
	}
}

// TestHostile tests that values in an untrusted workflow file reach no shell, and only known servers are started.
func TestHostile(t *testing.T) {
	for _, c := range []struct{ name, services, missing string }{
		{"an image with a shell's characters", "x: {image: 'postgres;touch /tmp/x $(id)`id`'}", "does not know this image"},
		{"an image that is no server", "x: {image: 'rabbitmq:3'}", "the service x (rabbitmq:3) is not started here"},
		{"an expression", "x: {image: '${{ matrix.db }}'}", "does not know this image"},
		{"a line break", `x: {image: postgres, env: {POSTGRES_USER: "a\nb"}}`, "POSTGRES_USER holds a line break"},
		{"a long value", "x: {image: postgres, env: {POSTGRES_DB: " + strings.Repeat("a", 2000) + "}}", "longer than"},
		{"a low port", "x: {image: postgres, ports: ['80:5432']}", "port 80 can't be had: the sandbox gives none below 1024"},
		{"the proxy's port", "x: {image: postgres, ports: ['3128:5432']}", "the sandbox has it itself"},
		{"no port", "x: {image: postgres, ports: ['70000:5432']}", "port 70000 can't be had"},
		{"an extension", "x: {image: 'pgvector/pgvector:pg16'}", "extension vector isn't installed"},
	} {
		b := newBench(t, c.services)
		set := service.Find(b.box, b.tree, nil)
		if got := strings.Join(set.Missing, "\n"); set.Any() || !strings.Contains(strings.ToLower(got),
			strings.ToLower(c.missing)) || strings.Contains(got, "`") {
			t.Errorf("%s: %v %q", c.name, set.Any(), got)
		}
	}
	b := newBench(t, "x: {image: postgres}\ny: {image: postgres, ports: ['5432:5432']}\nz: {image: postgres, env: "+
		"{POSTGRES_DB: z}, ports: [5432]}")
	if got := service.Find(b.box, b.tree, nil); len(got.Missing) != 2 ||
		!strings.Contains(got.Missing[0], "its port 5432 is that of the service y") {
		t.Errorf("ports that are taken: %q", got.Missing)
	}
	var many strings.Builder
	for i := range 10 {
		fmt.Fprintf(&many, "s%d: {image: postgres, ports: ['%d:5432']}\n", i, 6000+i)
	}
	b = newBench(t, many.String())
	got := service.Find(b.box, b.tree, nil)
	if len(got.Missing) != 2 || !strings.Contains(got.Missing[0], "after the first 8") {
		t.Errorf("ten services: %q", got.Missing)
	}
	c := sandbox.Command{}
	if got.Join(&c, b.data, false); len(c.Servers) != 8 || len(c.Mounts) != 1 {
		t.Errorf("ten services: %d servers, %d mounts", len(c.Servers), len(c.Mounts))
	}
}

// TestFiles tests that only workflow files count, that links are not followed, and that a sandbox without the program
// inside has no servers.
func TestFiles(t *testing.T) {
	b := newBench(t, "db: {image: postgres}")
	b.write("docs/ci.yml", workflow("cache: {image: redis}"))
	b.write(".github/workflows/notes.txt", workflow("cache: {image: redis}"))
	b.write(".github/workflows/broken.yml", "jobs: [")
	if err := os.Symlink("../../docs/ci.yml", filepath.Join(b.tree, ".github/workflows/link.yml")); err != nil {
		t.Fatal(err)
	}
	if got := service.Find(b.box, b.tree, nil); !got.Any() || len(got.Missing) > 0 ||
		strings.Contains(got.Told(), "edis") {
		t.Errorf("%q", got.Told())
	}
	if got := service.Find(b.box, b.tree, []string{"postgres:15", "rabbitmq"}); len(got.Missing) == 0 ||
		strings.Count(got.Told(), "PostgreSQL") != 1 || !strings.Contains(strings.Join(got.Missing, "\n"),
		"The service rabbitmq (rabbitmq) is not started here") {
		t.Errorf("settings: %q %q", got.Told(), got.Missing)
	}
	without := sandboxtest.New(t, sandbox.Options{})
	if got := service.Find(without, b.tree, nil); got.Any() || !slices.Contains(got.Missing,
		"The service db (postgres) is not started here: this sandbox starts no servers.") {
		t.Errorf("%q", got.Missing)
	}
	if got := service.Find(b.box, t.TempDir(), nil); got.Any() || got.Told() != "" {
		t.Errorf("an empty tree: %q", got.Told())
	}
	if got := service.Find(b.box, t.TempDir(), []string{"postgres"}); !got.Any() {
		t.Errorf("settings alone: %q", got.Missing)
	}
}
