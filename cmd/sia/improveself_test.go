package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia/improve"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/scripted"
)

// ownSource makes a small checkout of SIA's source: its program resolves all replay tasks if the prompt contains
// "carefully".
var ownSource = map[string]string{
	"go.mod":                  sourceModule + "\ngo 1.26\n",
	"agent/prompts/system.md": "Work.\n",
	"agent/prompts/plan.md":   "Plan.\n",
	"agent/agent.go":          "package agent\n\nimport _ \"embed\"\n\n//go:embed prompts/system.md\nvar System string\n",
	"cmd/sia/main.go": `package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/sia-bot/sia/agent"
)

func main() {
	if os.Getenv("SIA_IMPROVE_ITERATION") == "" {
		os.Exit(1)
	}
	if os.Args[2] == "list" {
		fmt.Print("[1]")
		return
	}
	fmt.Print("{\"runs\": [")
	for i := range 9 {
		if i > 0 {
			fmt.Print(",")
		}
		fmt.Printf("{\"task\": \"t%d\", \"resolved\": %v}", i, strings.Contains(agent.System, "carefully"))
	}
	fmt.Print("]}")
}
`,
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=ada", "-c",
		"user.email=ada@localhost"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

func TestCheckoutInAFolderThatLooksLikeAPattern(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a[b]")
	for name, content := range ownSource {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "SIA")
	c, err := openCheckout(t.Context(), dir)
	if err != nil || len(c.files) != 2 {
		t.Errorf("%q, %v; want the two prompts", c.files, err)
	}
}

func TestImproveSelfInACheckout(t *testing.T) {
	t.Parallel()
	x := improvementIn(t, ownSource, analysed("agent/prompts/system.md", "Say how to work"), written("Work carefully.\n"),
		criticised(.9))
	git(t, x.dir, "add", ".")
	git(t, x.dir, "commit", "-q", "-m", "SIA")
	head := git(t, x.dir, "rev-parse", "HEAD")
	args := []string{"improve", "self", "--repo", filepath.Join(x.dir, "agent"), "--output", "json", "--model-url",
		x.model.URL, "--model", "m", "--self-test", "grep -q Work agent/prompts/system.md"}
	a, code := x.run(t, args...)
	p := a.Data.Promotion
	if code != 0 || !p.Promoted || !p.RestartRequired || !a.Data.RestartRequired ||
		!strings.HasPrefix(p.Branch, "sia/improve-") {
		t.Fatalf("%d %+v\n%s", code, a, &x.stderr)
	}
	if r := a.Data.Evaluations[0].Replay; r == nil || r.Verdict != improve.ReplayPass || r.Tasks != 9 || r.Proposal != 1 ||
		r.E < r.Threshold {
		t.Errorf("replay: %+v", r)
	}
	if got := git(t, x.dir, "show", p.Branch+":agent/prompts/system.md"); got != "Work carefully.\n" {
		t.Errorf("on the branch: %q", got)
	}
	got := git(t, x.dir, "show", "--format=%an%n%B", "--name-only", p.Branch)
	if !strings.Contains(got, "SIA improves itself: Say how to work") ||
		!strings.Contains(got, "E = ") || !strings.HasSuffix(got, "\n\nagent/prompts/system.md\n") {
		t.Errorf("commit:\n%s", got)
	}
	if git(t, x.dir, "rev-parse", "HEAD") != head || git(t, x.dir, "status", "--porcelain") != "" ||
		x.get(t, "agent/prompts/system.md") != "Work.\n" {
		t.Error("the work tree was touched")
	}

	// Then a change that loses tasks is the second proposal, and is rejected.
	git(t, x.dir, "merge", "-q", p.Branch)
	if err := x.model.SetScript(scripted.Script{Rules: []scripted.Rule{analysed("agent/prompts/system.md", "Be brief"),
		written("Work.\n"), criticised(1)}}); err != nil {
		t.Fatal(err)
	}
	a, code = x.run(t, args...)
	if code != 1 || !strings.Contains(a.Message, "replayed tasks don't show that it is better") ||
		a.Data.Evaluations[0].Replay.Proposal != 2 {
		t.Errorf("%d %+v\n%s", code, a, &x.stderr)
	}

	x.put(t, "agent/prompts/plan.md", "Plan more.\n")
	if a, code = x.run(t, args...); code != 1 || !strings.Contains(a.Message, "not committed") {
		t.Errorf("a prompt that is not committed: %d %s", code, a.Message)
	}
	if a, code = x.run(t, "improve", "self", "--repo", t.TempDir(), "--output", "json", "--model-url", x.model.URL,
		"--model", "m"); code != 1 || !strings.Contains(a.Message, "no checkout of SIA's source") {
		t.Errorf("no checkout: %d %s", code, a.Message)
	}
}

// A checkout without the replay command, or without tasks, is improved as well, and the answer notes it.
func TestImproveSelfNotReplayed(t *testing.T) {
	files := map[string]string{}
	for name, content := range ownSource {
		files[name] = content
	}
	files["cmd/sia/main.go"] = "package main\n\nimport \"os\"\n\nfunc main() { os.Exit(2) }\n"
	x := improvementIn(t, files, analysed("agent/prompts/plan.md", "Say more"), written("Plan it.\n"), criticised(.9))
	git(t, x.dir, "add", ".")
	git(t, x.dir, "commit", "-q", "-m", "SIA")
	a, code := x.run(t, "improve", "self", "--repo", x.dir, "--output", "json", "--model-url", x.model.URL, "--model", "m",
		"--self-test", "true")
	if code != 0 || a.Data.Evaluations[0].Replay.Verdict != improve.NotReplayed {
		t.Errorf("%d %+v\n%s", code, a, &x.stderr)
	}
	if got := git(t, x.dir, "log", "-1", "--format=%B", a.Data.Promotion.Branch); !strings.Contains(got, "not replayed") {
		t.Errorf("commit:\n%s", got)
	}
}

const careful = `---
id: careful
name: Careful
when: something is done too fast
patterns:
  environment: 3
changes: [quote]
---
Be careful.
`

// Improvements for a repository end as a pull request there, with their evidence.
func TestImproveSelfForARepository(t *testing.T) {
	sim, err := ghsim.New(ghsim.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sim.Close() })
	if _, err = sim.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	sim.CreateUser("ada")
	_, err = sim.CreateRepo("ada", "shop", ghsim.RepoSpec{Files: map[string]string{".sia/techniques/careful.md": careful}})
	if err != nil {
		t.Fatal(err)
	}
	app, err := sim.CreateApp("sia")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = sim.Install(app.ID, "ada", "shop"); err != nil {
		t.Fatal(err)
	}
	better := strings.Replace(careful, "Be careful.", "Be careful @ada: read the log first.", 1)
	broken := strings.Replace(careful, "id: careful", "id: Not An Id", 1)
	first := analysed(".sia/techniques/careful.md", "Say what to read")
	first.Not = "It was reverted"
	second := analysed(".sia/techniques/careful.md", "Say what to read, again")
	bad := written(broken)
	bad.Not = "again"
	third := analysed(".sia/techniques/fresh-start.md", "Be kinder")
	third.User = "It was kept"
	shipped, err := os.ReadFile("../../sia/technique/library/fresh-start.md")
	if err != nil {
		t.Fatal(err)
	}
	kinder := written(string(shipped) + "\nTake your time.\n")
	kinder.User = "Be kinder"
	x := improvementIn(t, nil, third, first, second, kinder, bad, written(better), criticised(.8))
	x.put(t, "app.pem", string(app.PrivateKeyPEM))
	for name, value := range map[string]string{"SIA_GITHUB_URL": sim.URL(), "SIA_GITHUB_API": sim.APIURL(),
		"SIA_APP_KEY_FILE": filepath.Join(x.dir, "app.pem"), "SIA_WEBHOOK_SECRET": "only for tests",
		"SIA_DIR": filepath.Join(x.dir, "server"), "SIA_WRITE_SPACING": "1ms"} {
		t.Setenv(name, value)
	}
	args := []string{"improve", "self", "--for", "ada/shop", "--output", "json", "--model-url", x.model.URL, "--model",
		"m", "--app-id", fmt.Sprint(app.ID), "--cycles", "3"}
	a, code := x.run(t, args...)
	if code != 0 || a.Data.Promotion.Pull == "" || a.Data.RestartRequired {
		t.Fatalf("%d %+v\n%s", code, a, &x.stderr)
	}
	if c := a.Data.Cycles[0]; c.Outcome != improve.Reverted || !strings.Contains(c.Reason, "it can't be read") {
		t.Errorf("a technique that can't be read: %+v", c)
	}
	pull, err := sim.Pull("ada/shop", 1)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(pull.Files, " ") != ".sia/techniques/careful.md .sia/techniques/fresh-start.md" {
		t.Errorf("files: %v", pull.Files)
	}
	if got, err := sim.File("ada/shop", pull.HeadRef, ".sia/techniques/careful.md"); err != nil || got != better {
		t.Errorf("on the branch: %q %v", got, err)
	}
	for _, says := range []string{"Say what to read, again", "independent critique | 0.80 of 1", "not replayed",
		"it is read", "`.sia/techniques/fresh-start.md` is new here"} {
		if !strings.Contains(pull.Body, says) {
			t.Errorf("the pull request does not say %q:\n%s", says, pull.Body)
		}
	}
	a, code = x.run(t, append([]string{"improve", "self", "--for", "ada/other"}, args[4:]...)...)
	if code != 1 || !strings.Contains(a.Message, "not installed in ada/other") {
		t.Errorf("elsewhere: %d %s", code, a.Message)
	}
}
