// Package app_test holds what must be true of the whole module: who imports whom.
//
//test:plain
//test:thorough
package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/sia-bot/sia"

// A layer is what lies on one level. A package may import what is in a lower
// layer, and what is in its own room: its parent's and its own subfolders.
// Packages of one layer don't know one another.
//
// On the ground floor lies what reads, matches and shortens text, and knows nothing of what
// the text is about.
//
//	cmd → app → {webhook, work, settings, learn, trial, improve, memory, sweep, dashboard, notify, welcome, web, metrics,
//	trace, probe, runner}
//	    → {store, github, render, agent/testrun} → {agent/*, gitops, policies, atomicfile, clientaddr,
//	lease, look} → sia/*
//	→ sia → ground
var layers = [][]string{
	{"sia/lazyregexp"},
	{"sia/glob", "sia/invalid", "sia/keyword", "sia/plan", "sia/project", "sia/text", "sia/visible"},
	{"sia"},
	{"sia/...", "agent/tool/symbol"},
	{"agent/locate"},
	{"agent/...", "gitops/...", "policies/...", "app/atomicfile", "app/clientaddr", "app/lease", "app/look"},
	{"app/store/...", "app/github/...", "app/render/...", "agent/testrun/..."},
	{"app/webhook/...", "app/work/...", "app/settings/...", "app/learn/...", "app/trial/...",
		"app/improve/...", "app/memory/...", "app/sweep/...", "app/dashboard", "app/notify", "app/welcome",
		"app/web/...", "app/metrics", "app/trace", "app/probe", "app/runner/..."},
	{"app"},
	{"lab/..."},
	{"lab/located", "lab/scale"},
	{"cmd/internal/cli"},
	{"cmd/..."},
}

// grounded may import the ground floor, though they are alone: policies reads people's files, and
// says what is wrong with them as all others do; agent/llm shortens what models answer.
var grounded = []string{"policies", "agent/llm"}

// alone import nothing of ours but what lies in their own folder.
var alone = []string{"gitops", "policies", "agent/llm", "agent/sandbox", "agent/gateway", "sim/ghsim", "sim/scripted",
	"sim/flavour", "sim/kubesim", "app/atomicfile",
	"app/clientaddr", "app/lease", "app/look"}

// exceptions are imports that the layers would forbid, each with its reason.
var exceptions = map[[2]string]string{
	{"sia/diagnose", "agent/llm"}:      "a diagnosis is a model's answer",
	{"sia/improve", "agent/llm"}:       "so is an improvement",
	{"sia/diagnose", "sia/technique"}:  "a diagnosis chooses from the library and applies what it chose",
	{"sia/diagnose", "sia/escalate"}:   "a diagnosis that needs a person is a question",
	{"agent/tool", "agent/sandbox"}:    "the run tool runs commands",
	{"agent/service", "agent/sandbox"}: "a service is a server of the sandbox",

	{"agent/service", "agent/sandbox/sandboxtest"}: "and is tested in it",

	{"app/web/signin", "app/web/viewer"}: "who lets people in says who they are",
	{"app/web/setup", "app/web/viewer"}:  "and set-up's forms carry the viewer's token",

	{"lab/synthetic", "lab/invented"}: "the invented world reads the logs that the tests of policies/mine read",
}

// neighbours are what only cmd and tests may import. The product meets the simulator over HTTP, and knows nothing of
// the lab, which may import the product and the simulator.
var neighbours = []string{"sim", "lab"}

const simulator = "sim/ghsim"

// simulatorRooms are the simulator's own layers, from below, by the same rule:
// a room imports rooms of lower layers. The simulator itself puts them together.
var simulatorRooms = [][]string{
	{"git", "runner", "monitor", "fault", "refusal", "conformance"},
	{"journal", "delivery"},
	{"model"},
	{"rules", "oracle"},
	{"payload", "access"},
	{"world"},
	{"people", "remote", "api"},
	{"pages"},
}

// support is test support, which is held to what tests are held to; only tests
// import it.
const support = "sim/apptest"

// seeds draws nothing and knows nothing: a test of any package may import it, and nothing else does.
const seeds = "sia/fixedseed"

// pkg is one package as `go list -json` prints it.
type pkg struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// The server is linked with neither neighbour: nothing that app needs, near or far, lies in sim or lab.
func TestImportsOfTheServer(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", module+"/app").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, module+"/app/store") {
		t.Fatalf("go list -deps found %d packages, and the store not among them", len(deps))
	}
	for _, d := range deps {
		for _, n := range neighbours {
			if within(local(d), n) {
				t.Errorf("the server is linked with %s", local(d))
			}
		}
	}
}

func TestImportsPointDownward(t *testing.T) {
	for _, p := range packages(t) {
		from := local(p.ImportPath)
		for _, to := range ours(p.Imports) {
			if why := forbidden(from, to); why != "" {
				t.Errorf("%s imports %s: %s", from, to, why)
			}
		}
		for _, to := range append(ours(p.TestImports), ours(p.XTestImports)...) {
			if why := forbiddenInTest(from, to); why != "" {
				t.Errorf("a test of %s imports %s: %s", from, to, why)
			}
		}
	}
}

// forbidden says why production code in from may not import to; "" when it may.
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
		if within(from, a) && !within(to, a) && !(slices.Contains(grounded, a) && layer(to) <= layer("sia/text")) {
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
		return "the folder " + from + " is in no layer; add it to the table in app/imports_test.go"
	case lt < 0:
		return "the folder " + to + " is in no layer; add it to the table in app/imports_test.go"
	case lt < lf:
		return ""
	case lt > lf:
		return fmt.Sprintf("that points upward (%s → %s); declare the interface you need here and let app pass the "+
			"implementation in", name(lf), name(lt))
	case sameRoom(from, to):
		return ""
	}
	return "they are siblings, which don't know one another; declare the interface you need here and let app pass the " +
		"implementation in"
}

// forbiddenInside says why one of the simulator's rooms may not import another.
func forbiddenInside(from, to string) string {
	if from == simulator {
		return ""
	}
	rf, rt := simulatorRoom(from), simulatorRoom(to)
	switch {
	case rf < 0:
		return "the room " + from + " is in no layer; add it to simulatorRooms in app/imports_test.go"
	case to == simulator || rt >= rf:
		return "that does not point downward in the simulator; pass in what the room needs"
	}
	return ""
}

// simulatorRoom is the number of a room's layer in the simulator from below, -1 for none.
func simulatorRoom(p string) int {
	room := strings.TrimPrefix(p, simulator+"/")
	return slices.IndexFunc(simulatorRooms, func(layer []string) bool { return slices.Contains(layer, room) })
}

// forbiddenInTest is more lenient: tests may use the simulator, and they may use
// test support that lies beside what it supports, such as sim/scripted.
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

// layer is the layer's number from below, -1 for none. A package that is named
// lies where it is named, and not where the rest of its folder does.
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

// sameRoom reports whether one package lies in the other's folder. The agent's
// subfolders are rooms of their own, which the agent builds on: a tool does not
// know who calls it.
func sameRoom(from, to string) bool { return within(to, from) || within(from, to) && to != "agent" }

func within(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }

func local(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, module), "/") }

func ours(imports []string) []string {
	var out []string
	for _, i := range imports {
		if strings.HasPrefix(i, module+"/") && !slices.Contains(out, local(i)) {
			out = append(out, local(i))
		}
	}
	return out
}

// packages lists the module's packages.
func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports",
		module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list printed something else: %v", err)
		}
		all = append(all, p)
	}
	if len(all) < 5 {
		t.Fatalf("go list found %d packages; the test looks in the wrong place", len(all))
	}
	return all
}

// TestTheRulesThemselves holds the table to the sentences it stands for.
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
