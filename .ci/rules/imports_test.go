// Package rules tests what must be true of the whole module: the directions of imports, and that cited tests exist.
// Its tests read the sources themselves and run no other program, so that go test knows when a result is outdated.
//
//test:plain
package rules

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

const module = "github.com/sia-bot/sia"

// A layer is the packages of one level. A package may import packages of lower
// layers, and of its own folder: its parent's and its own subfolders.
// Packages of one layer don't import one another.
//
// The base layer reads, matches and shortens text, whatever the text
// is about.
//
//	cmd → app → {webhook, work, settings, learn, trial, improve, memory, sweep, dashboard, notify, welcome, web, metrics,
//	trace, probe, runner}
//	    → {store, github, render, agent/testrun} → {agent/*, gitops, policies, atomicfile, clientaddr,
//	expiring, lease, look} → sia/*
//	→ sia → base
var layers = [][]string{
	{"sia/lazyregexp"},
	{"sia/gitignore", "sia/glob", "sia/invalid", "sia/junit", "sia/keyword", "sia/plan", "sia/text", "sia/view",
		"sia/visible"},
	{"sia/yamlfile"},
	{"sia/project"},
	{"sia"},
	{"sia/...", "agent/tool/symbol"},
	{"agent/locate"},
	{"agent/...", "gitops/...", "policies/...", "app/atomicfile", "app/clientaddr",
		"app/expiring", "app/lease", "app/look"},
	{"app/store/...", "app/github/...", "app/render/...", "agent/testrun/..."},
	{"app/webhook/...", "app/work/...", "app/settings/...", "app/learn/...", "app/trial/...",
		"app/improve/...", "app/memory/...", "app/sweep/...", "app/dashboard", "app/notify", "app/welcome",
		"app/web/...", "app/metrics", "app/trace", "app/probe", "app/runner/..."},
	{"app"},
	{"lab/..."},
	{"lab/abuse", "lab/located", "lab/scale"},
	{"cmd/internal/cli", "cmd/internal/localgit"},
	{"cmd/internal/localrun", "cmd/internal/demo"},
	{"cmd/..."},
}

// baseImporters may import the base layer, although they are alone: policies reads users' files, and
// reports errors in them like all others; agent/llm shortens models' answers.
var baseImporters = []string{"policies", "agent/llm"}

// alone import nothing of ours outside their own folder.
var alone = []string{"gitops", "policies", "agent/llm", "agent/sandbox", "agent/gateway", "sim/ghsim", "sim/scripted",
	"sim/flavour", "sim/kubesim", "app/atomicfile", "app/expiring",
	"app/clientaddr", "app/lease", "app/look"}

// exceptions are imports that the layers would forbid, each with its reason.
var exceptions = map[[2]string]string{
	{"sia/diagnose", "agent/llm"}:        "a diagnosis is a model's answer",
	{"sia/improve", "agent/llm"}:         "so is an improvement",
	{"sia/diagnose", "sia/technique"}:    "a diagnosis chooses from the library and applies what it chose",
	{"sia/diagnose", "sia/escalate"}:     "a diagnosis that needs a person is a question",
	{"gitops", "sia/gitignore"}:          "tools leave out what commits leave out",
	{"agent/tool", "agent/sandbox"}:      "the run tool runs commands",
	{"agent/service", "agent/sandbox"}:   "a service is a server of the sandbox",
	{"agent/gateway", "agent/llm/usage"}: "there is one reading of the usage that endpoints report",

	{"agent/service", "agent/sandbox/sandboxtest"}: "and is tested in it",

	{"app/web/signin", "app/web/viewer"}: "signing in identifies the viewer",
	{"app/web/setup", "app/web/viewer"}:  "and set-up's forms carry the viewer's token",

	{"lab/synthetic", "lab/invented"}: "the invented world reads the logs that the tests of policies/mine read",
}

// Only cmd and tests may import the neighbours. The product uses the simulator over HTTP, and not the lab, which may
// import the product and the simulator.
var neighbours = []string{"sim", "lab"}

const simulator = "sim/ghsim"

// simulatorLayers are the simulator's own layers, from below, by the same rule:
// a package imports packages of lower layers. The simulator itself connects them.
var simulatorLayers = [][]string{
	{"git", "runner", "monitor", "fault", "refusal", "conformance"},
	{"journal", "delivery"},
	{"model"},
	{"rules", "oracle"},
	{"payload", "access"},
	{"world"},
	{"people", "remote", "api"},
	{"pages"},
}

// support is test support, with the rules of tests; only tests
// import it.
const support = "sim/apptest"

// seeds imports nothing: tests of any package may import it, and nothing else.
const seeds = "sia/fixedseed"

// pkg is one package: the folders of ours that it and its tests import.
type pkg struct{ Imports, Tests []string }

// The server is linked with neither neighbour: app imports nothing in sim or lab, directly or indirectly.
func TestImportsOfTheServer(t *testing.T) {
	all, needed := packages(t), []string{"app"}
	for i := 0; i < len(needed); i++ {
		for _, to := range all[needed[i]].Imports {
			if !slices.Contains(needed, to) {
				needed = append(needed, to)
			}
		}
	}
	if !slices.Contains(needed, "app/store") {
		t.Fatalf("app needs %d packages, and the store is not among them", len(needed))
	}
	for _, p := range needed {
		for _, n := range neighbours {
			if within(p, n) {
				t.Errorf("the server is linked with %s", p)
			}
		}
	}
}

func TestImportsPointDownward(t *testing.T) {
	for from, p := range packages(t) {
		for _, to := range p.Imports {
			if why := forbidden(from, to); why != "" {
				t.Errorf("%s imports %s: %s", from, to, why)
			}
		}
		for _, to := range p.Tests {
			if why := forbiddenInTest(from, to); why != "" {
				t.Errorf("a test of %s imports %s: %s", from, to, why)
			}
		}
	}
}

// forbidden returns why production code in from may not import to; "" if it may.
func forbidden(from, to string) string {
	if within(to, support) && !within(from, support) || to == seeds {
		return "only tests import test support"
	}
	if within(from, support) {
		return ""
	}
	if _, ok := exceptions[[2]string{from, to}]; ok {
		return ""
	}
	for _, n := range neighbours {
		if within(to, n) && !within(from, n) && !within(from, "cmd") && !within(from, "lab") {
			return "only cmd, the lab and tests import " + n + ", a neighbour of the product"
		}
	}
	for _, a := range alone {
		if within(from, a) && !within(to, a) && !(slices.Contains(baseImporters, a) && layer(to) <= layer("sia/yamlfile")) {
			return a + " imports nothing of ours, so that it can be read and changed by itself"
		}
	}
	if within(from, simulator) && within(to, simulator) {
		return forbiddenInside(from, to)
	}
	if within(from, "sim") || within(to, "sim") {
		return ""
	}
	lf, lt := layer(from), layer(to)
	switch {
	case lf < 0:
		return "the folder " + from + " is in no layer; add it to the table in .ci/rules/imports_test.go"
	case lt < 0:
		return "the folder " + to + " is in no layer; add it to the table in .ci/rules/imports_test.go"
	case lt < lf:
		return ""
	case lt > lf:
		return fmt.Sprintf("that points upward (%s → %s); declare the interface you need here and let app pass the "+
			"implementation in", name(lf), name(lt))
	case sameFolder(from, to):
		return ""
	}
	return "they are siblings, which don't know one another; declare the interface you need here and let app pass the " +
		"implementation in"
}

// forbiddenInside returns why one of the simulator's packages may not import another.
func forbiddenInside(from, to string) string {
	if from == simulator {
		return ""
	}
	rf, rt := simulatorLayer(from), simulatorLayer(to)
	switch {
	case rf < 0:
		return "the package " + from + " is in no layer; add it to simulatorLayers in .ci/rules/imports_test.go"
	case to == simulator || rt >= rf:
		return "that does not point downward in the simulator; pass in what the package needs"
	}
	return ""
}

// simulatorLayer returns the number of a package's layer in the simulator from below, -1 for none.
func simulatorLayer(p string) int {
	name := strings.TrimPrefix(p, simulator+"/")
	return slices.IndexFunc(simulatorLayers, func(layer []string) bool { return slices.Contains(layer, name) })
}

// forbiddenInTest is more lenient: tests may use the simulator, and
// test support in the folder of what it supports, such as sim/scripted.
func forbiddenInTest(from, to string) string {
	if to == seeds {
		return ""
	}
	if within(to, "sim") || within(to, "lab/invented") || layer(from) >= layer("app") || within(to, "agent/llm") {
		return ""
	}
	if from == to || within(to, from) {
		return ""
	}
	return forbidden(from, to)
}

// layer returns the number of a package's layer from below, -1 for none. An entry for the package itself
// takes precedence over one for its folder.
func layer(p string) int {
	for i := range layers {
		if slices.Contains(layers[i], p) {
			return i
		}
	}
	for i := len(layers) - 1; i >= 0; i-- {
		for _, pattern := range layers[i] {
			root, tree := strings.CutSuffix(pattern, "/...")
			if tree && (p == root || strings.HasPrefix(p, root+"/")) {
				return i
			}
		}
	}
	return -1
}

func name(layer int) string { return "{" + strings.Join(layers[layer], ", ") + "}" }

// sameFolder reports whether one package is in the other's folder. The agent's
// subfolders are separate, since the agent builds on them: a tool does not
// depend on its caller.
func sameFolder(from, to string) bool { return within(to, from) || within(from, to) && to != "agent" }

func within(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }

// packages reads the imports of the module's packages by their folders, in files for all systems.
func packages(t *testing.T) map[string]*pkg {
	t.Helper()
	all := map[string]*pkg{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir():
			if file != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, ".go"):
			return nil
		}
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		local, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		folder := path.Dir(filepath.ToSlash(local))
		p := all[folder]
		if p == nil {
			p = &pkg{}
			all[folder] = p
		}
		imports := &p.Imports
		if strings.HasSuffix(file, "_test.go") {
			imports = &p.Tests
		}
		for _, spec := range source.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if ours, ok := strings.CutPrefix(to, module+"/"); ok && !slices.Contains(*imports, ours) {
				*imports = append(*imports, ours)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("only %d packages were found", len(all))
	}
	return all
}

// TestTheRulesThemselves compares the table with the documented rules.
func TestTheRulesThemselves(t *testing.T) {
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"cmd/sia", "app", true},
		{"cmd/sia", "sim/ghsim", true},
		{"cmd/sialab", "lab/year", true},
		{"cmd/sialab", "cmd/internal/cli", true},
		{"cmd/sialab", "cmd/sia", false},
		{"cmd/sia", "cmd/internal/localrun", true},
		{"cmd/internal/localrun", "cmd/internal/localgit", true},
		{"cmd/internal/localrun", "sim/stage", true},
		{"cmd/internal/localrun", "cmd/sia", false},
		{"cmd/internal/cli", "cmd/internal/localgit", false},
		{"cmd/sia", "cmd/internal/demo", true},
		{"cmd/internal/demo", "cmd/internal/localrun", false},
		{"app", "app/web", true},
		{"app", "sim/ghsim", false},
		{"app/work", "app/store", true},
		{"app/work", "app/web", false},
		{"app/webhook", "app/work", false},
		{"app/work", "app/learn", false},
		{"app/work", "app/settings", false},
		{"app/memory", "app/settings", false},
		{"app/improve", "sia/improve", true},
		{"app/improve", "app/learn", false},
		{"app/sweep", "app/webhook", false},
		{"app/notify", "app/render", true},
		{"app/notify", "app/sweep", false},
		{"app/learn", "app/store", true},
		{"lab/scale", "sim/ghsim", true},
		{"lab/abuse", "lab/replay", true},
		{"lab/abuse", "sim/stage", true},
		{"lab/replay", "gitops", true},
		{"lab/replay", "app/atomicfile", true},
		{"app/store", "app/atomicfile", true},
		{"app/store", "app/lease", true},
		{"app/github", "app/lease", true},
		{"gitops", "app/lease", false},
		{"gitops", "app/atomicfile", false},
		{"app/atomicfile", "sia/text", false},
		{"app", "lab/replay", false},
		{"policies/mine", "lab/invented", false},
		{"lab/synthetic", "policies/mine", true},
		{"app/web", "agent", true},
		{"app/metrics", "agent/llm", true},
		{"app/metrics", "app/memory", false},
		{"app/probe", "app/github", true},
		{"app/probe", "sim/ghsim", false},
		{"app/probe", "app/work", false},
		{"app/store", "app/render", false},
		{"app/store", "app/work", false},
		{"app/store/storetest", "app/store", true},
		{"app/render", "sia/config", true},
		{"app/github", "sia", true},
		{"app/work", "sim/ghsim", false},
		{"sim/ghsim", "sia", false},
		{"sim/ghsim", "sim/ghsim/world", true},
		{"sim/ghsim/conformance", "sim/ghsim", false},
		{"sim/ghsim/api", "sim/ghsim/world", true},
		{"sim/ghsim/api", "sim/ghsim/people", false},
		{"sim/ghsim/world", "sim/ghsim/api", false},
		{"sim/ghsim/world", "sia", false},
		{"app/github", "sim/ghsim/model", false},
		{"agent", "agent/llm", true},
		{"agent", "agent/tool", true},
		{"agent/tool", "agent", false},
		{"agent/tool", "sia", true},
		{"agent/llm", "sia", false},
		{"sim/scripted", "agent/llm", false},
		{"agent/sandbox", "agent/llm", false},
		{"agent", "gitops", false},
		{"policies", "sia/invalid", true},
		{"policies", "sia", false},
		{"gitops", "sia", false},
		{"policies", "sia", false},
		{"sia", "sia/gate", false},
		{"sia/gate", "sia", true},
		{"sia/gate", "sia/stuck", false},
		{"sia/gate", "sia/text", true},
		{"sia", "sia/text", true},
		{"sia/text", "sia", false},
		{"sia/text", "sia/visible", false},
		{"agent/tool", "sia/text", true},
		{"app/store", "sia/text", true},
		{"gitops", "sia/text", false},
		{"gitops", "sia/gitignore", true},
		{"sia/gate", "sia/tamper", false},
		{"sia/diagnose", "agent/llm", true},
		{"sia/improve", "agent/llm", true},
		{"sia/improve", "agent/sandbox", false},
		{"sia/gate", "agent/llm", false},
		{"tools", "sia", false},
	} {
		if got := forbidden(c.from, c.to); (got == "") != c.ok {
			t.Errorf("%s → %s: %q, want allowed %v", c.from, c.to, got, c.ok)
		}
	}
}
