package main

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/app/store/storetest"
)

// root is a file of the repository.
func root(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The documented variables are variables that SIA reads.
func TestOperationsNameVariables(t *testing.T) {
	parser, err := newParser(&commandLine{}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"SIA_DOMAIN"} // of compose and Caddy
	for _, command := range parser.Model.Leaves(false) {
		for _, f := range flagsOf(command) {
			known = append(known, f.Envs...)
		}
	}
	for _, file := range []string{"compose.yml", ".env.example", "Dockerfile", "docs/operations.md",
		"docs/operations/sia.service", "docs/operations/Caddyfile", "docs/operations/postgres.yml",
		"docs/operations/runner.yml", chart + "values.yaml",
		chart + "templates/statefulset.yaml", chart + "templates/runner.yaml"} {
		named := regexp.MustCompile(`\bSIA_[A-Z_]+`).FindAllString(root(t, file), -1)
		if len(named) == 0 {
			t.Errorf("%s names no variable", file)
		}
		for _, name := range named {
			if !slices.Contains(known, name) {
				t.Errorf("%s names %s, which nothing reads", file, name)
			}
		}
	}
}

// The stack of compose.yml opens only Caddy's ports, checks SIA's health with an existing command, and mounts existing
// files.
func TestComposeStack(t *testing.T) {
	type service struct {
		Ports, Volumes []string
		CapDrop        []string `yaml:"cap_drop"`
		ReadOnly       bool     `yaml:"read_only"`
		Restart        string
		Environment    map[string]string
		Healthcheck    struct{ Test []string }
	}
	type composed struct {
		Services map[string]service
		Volumes  map[string]any
	}
	var stack, more composed
	if err := errors.Join(yaml.Unmarshal([]byte(root(t, "compose.yml")), &stack),
		yaml.Unmarshal([]byte(root(t, "docs/operations/postgres.yml")), &more)); err != nil {
		t.Fatal(err)
	}
	if db := more.Services["sia"].Environment["SIA_DB"]; !strings.Contains(db, "@postgres:5432/") {
		t.Errorf("SIA's database is %q", db)
	}
	stack.Services["postgres"] = more.Services["postgres"]
	maps.Copy(stack.Volumes, more.Volumes)
	ports := map[string][]string{}
	for name, s := range stack.Services {
		if len(s.Ports) > 0 {
			ports[name] = s.Ports
		}
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || s.Restart != "unless-stopped" {
			t.Errorf("%s is not as closed as it can be: %+v", name, s)
		}
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			if _, ok := stack.Volumes[from]; !ok && from != "./secrets" {
				root(t, from)
			}
		}
	}
	if diff := cmp.Diff(map[string][]string{"caddy": {"80:80", "443:443"}}, ports); diff != "" {
		t.Error(diff)
	}
	sia := stack.Services["sia"]
	_, key := sia.Environment["SIA_APP_KEY_FILE"]
	if key || sia.Environment["SIA_PUBLIC_URL"] != "${SIA_PUBLIC_URL:-https://${SIA_DOMAIN}}" {
		t.Errorf("a browser can't register the app, or nobody reaches the pages: %v", sia.Environment)
	}
	health := sia.Healthcheck.Test
	if len(health) < 3 || !slices.Equal(health[:2], []string{"CMD", "sia"}) {
		t.Fatalf("the health check is %q", health)
	}
	parser, err := newParser(&commandLine{}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(health[2:]); err != nil {
		t.Error(err)
	}
}

// Caddy forwards the requests of runners, as docs/runners.md requires of a proxy.
func TestProxyTakesWhatRunnersSend(t *testing.T) {
	number := func(file, pattern string) int {
		m := regexp.MustCompile(pattern).FindStringSubmatch(root(t, file))
		if m == nil {
			t.Fatalf("%s has nothing like %s", file, pattern)
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const caddy = "docs/operations/Caddyfile"
	asked, taken := number("docs/runners.md", `bodies of (\d+) MB`),
		number(caddy, `request_body /runner/\* \{\s+max_size (\d+)MB`)
	if taken != asked || asked*1_000_000 < runner.MaxResult+runner.MaxPack {
		t.Errorf("it takes %d MB of %d", taken, asked)
	}
	if within := time.Duration(number(caddy, `read_body (\d+)m`)) * time.Minute; within < runner.UploadTimeout {
		t.Errorf("it waits for %s of %s", within, runner.UploadTimeout)
	}
}

// A runner of compose.yml gets its token from the server's database.
func TestRunnerRecipe(t *testing.T) {
	lines := regexp.MustCompile(`(?m)^# +docker compose .*`).FindAllString(root(t, "docs/operations/runner.yml"), -1)
	if len(lines) < 2 {
		t.Errorf("the recipe is %q", lines)
	}
	for _, line := range lines {
		var files []string
		for _, m := range regexp.MustCompile(` -f (\S+)`).FindAllStringSubmatch(line, -1) {
			if m[1] != "docs/operations/runner.yml" {
				files = append(files, m[1])
			}
		}
		if diff := cmp.Diff([]string{"compose.yml", "docs/operations/postgres.yml"}, files); diff != "" {
			t.Errorf("%s\n%s", line, diff)
		}
	}
}

// Commands that run next to the service have the unit's files and variables, those of a key of one's own included.
func TestServiceRecipe(t *testing.T) {
	unit := strings.Split(strings.ReplaceAll(root(t, "docs/operations/sia.service"), "\n#", "\n"), "\n")
	recipe := regexp.MustCompile(`(?s)\nsystemd-run .*?'\n`).FindString(root(t, "docs/operations.md"))
	_, recipe, _ = strings.Cut(recipe, "app.pem`:")                     // the second one
	recipe = strings.ReplaceAll(recipe, "$CREDENTIALS_DIRECTORY", "%d") // as written in a unit
	var given []string
	for _, m := range regexp.MustCompile(` -p (\S+)`).FindAllStringSubmatch(recipe, -1) {
		given = append(given, m[1])
		if !slices.Contains(unit, m[1]) {
			t.Errorf("the unit lacks %s", m[1])
		}
	}
	for _, variable := range regexp.MustCompile(`SIA_\S+`).FindAllString(recipe, -1) {
		given = append(given, variable)
		if !slices.ContainsFunc(unit, func(line string) bool {
			set, ok := strings.CutPrefix(line, "Environment=")
			return ok && slices.Contains(strings.Fields(set), variable)
		}) {
			t.Errorf("the unit lacks %s", variable)
		}
	}
	if len(given) != 5 {
		t.Errorf("the recipe gives %q", given)
	}
}

// Two servers use one database and one folder, as docs/operations/postgres.yml and the chart's replicas do. One stays
// up when the other stops.
//
//test:thorough
func TestReplicasShareDatabaseAndFolder(t *testing.T) {
	t.Parallel()
	shared := []string{"--db", storetest.Postgres(t), "--dir", t.TempDir()}
	answers := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	first, _, _ := startServe(t, answers, shared...)
	t.Run("with another", func(t *testing.T) {
		second, _, _ := startServe(t, answers, shared...)
		for _, server := range []string{first, second} {
			if status, body := get(t, server+"/healthz"); status != http.StatusOK {
				t.Errorf("%s: %d %s", server, status, body)
			}
		}
	})
	if status, body := get(t, first+"/healthz"); status != http.StatusOK {
		t.Errorf("alone again: %d %s", status, body)
	}
}

const chart = "docs/operations/helm/"

// Each value of the Helm chart has an effect, and no template uses a value that does not exist.
func TestChartUsesItsValues(t *testing.T) {
	var values map[string]any
	if err := yaml.Unmarshal([]byte(root(t, chart+"values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../" + chart + "templates/*")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, file := range files {
		text := root(t, strings.TrimPrefix(file, "../../"))
		for _, m := range regexp.MustCompile(`\.Values\.([A-Za-z.]+)`).FindAllStringSubmatch(text, -1) {
			used[m[1]] = true
			at := any(values)
			for key := range strings.SplitSeq(m[1], ".") {
				in, ok := at.(map[string]any)
				if _, there := in[key]; !ok || !there {
					t.Errorf("%s asks for the value %s, which values.yaml lacks", filepath.Base(file), m[1])
					break
				}
				at = in[key]
			}
		}
	}
	var look func(path string, v any)
	look = func(path string, v any) {
		if in, ok := v.(map[string]any); ok && !used[path] {
			for key, v := range in {
				look(strings.TrimPrefix(path+"."+key, "."), v)
			}
		} else if !used[path] {
			t.Errorf("no template uses the value %s", path)
		}
	}
	look("", values)
}

// Files with a server's secrets are excluded from git and from images.
func TestSecretsAreIgnored(t *testing.T) {
	for file, want := range map[string][]string{
		".gitignore":    {"/.env", "/secrets/", "/runner-secret/", "*.pem", "github-app.json"},
		".dockerignore": {".env", "secrets", "runner-secret", "**/*.pem", "**/github-app.json"},
	} {
		lines := strings.Split(root(t, file), "\n")
		for _, line := range want {
			if !slices.Contains(lines, line) {
				t.Errorf("%s lacks %s", file, line)
			}
		}
	}
}

// A release uses actions pinned to commits, since tags can be moved, and each job has minimal permissions.
func TestReleaseIsPinned(t *testing.T) {
	const file = ".github/workflows/release.yml"
	var workflow struct {
		Permissions map[string]string
		Jobs        map[string]struct {
			Permissions map[string]string
			Steps       []struct{ Uses string }
		}
	}
	if err := yaml.Unmarshal([]byte(root(t, file)), &workflow); err != nil {
		t.Fatal(err)
	}
	if workflow.Permissions == nil || len(workflow.Permissions) > 0 {
		t.Errorf("every job may do %v", workflow.Permissions)
	}
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	n := 0
	for name, job := range workflow.Jobs {
		if len(job.Permissions) == 0 {
			t.Errorf("%s says nothing of what it may do", name)
		}
		for _, step := range job.Steps {
			if step.Uses != "" {
				n++
				if !pinned.MatchString(step.Uses) {
					t.Errorf("%s uses %s", name, step.Uses)
				}
			}
		}
	}
	if n == 0 {
		t.Error("no job uses an action")
	}
}
