package testrun

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sia-bot/sia/agent/locate"
)

// nodeProjects have a package.json and a test file each.
var nodeProjects = map[string]struct{ about, tests, begin string }{
	"mocha": {`{"devDependencies": {"mocha": "1"}}`, "test/price.js", "const { total } = require('../src/price.js');\n"},
	"jest": {`{"devDependencies": {"jest": "1"}}`, "test/price.test.js",
		"const { total } = require('../src/price.js');\n"},
	"vitest": {`{"devDependencies": {"vitest": "1"}, "scripts": {"test": "vitest --config conf/vite.config.mjs"}}`,
		"test/price.test.ts", "import { describe, it } from 'vitest';\nimport { total } from '#price';\n"},
}

const nodeTests = `
describe("price", () => {
  it("adds", () => { if (total(1, 2) !== 3) throw new Error("wrong"); });
  describe("of two", () => {
    it("doubles what is the same", () => { if (total(2, 2) !== 4) throw new Error("wrong"); });
  });
  it("fails, and nobody asked for it", () => { throw new Error("wrong"); });
});
`

const nodePrice = `exports.total = (a, b) => {
  if (a === b) {
    return 3 * a;
  }
  return a + b;
};
`

// TestNodeRunners runs tests with the real runners, as a suite and for coverage.
//
//test:thorough
func TestNodeRunners(t *testing.T) {
	t.Parallel()
	installed, err := filepath.Abs("../../node_modules")
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range nodeProjects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			text := map[string]string{"package.json": p.about, p.tests: p.begin + nodeTests, "src/price.js": nodePrice}
			if name == "vitest" {
				text["src/price.js"] = strings.Replace(nodePrice, "exports.total", "export const total", 1)
				text["conf/vite.config.mjs"] = `const at = process.cwd() + "/src/price.js";
export default { resolve: { alias: { "#price": at } } };`
			}
			tree := Files{}
			for file, content := range text {
				tree[file] = Files{}[file]
				at := filepath.Join(dir, "tree", file)
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			read := func(p string) ([]byte, error) {
				if content, ok := text[p]; ok {
					return []byte(content), nil
				}
				return nil, os.ErrNotExist
			}
			// run runs a suite here, with the sandbox's folders.
			run := func(l Language, s Suite) Report {
				t.Helper()
				node := filepath.Join(dir, "tree", "node_modules")
				if err := os.RemoveAll(node); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(installed, node); err != nil {
					t.Fatal(err)
				}
				script := strings.NewReplacer("/tmp/", dir+"/", depsAt+"/node_modules", installed, buildAt, dir+"/build").
					Replace(shellFunctions("token", runTimeout) + s.Script)
				cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
				cmd.Dir = filepath.Join(dir, "tree")
				out, err := cmd.CombinedOutput()
				if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				r := newReportReader(l, "token")
				if _, err := r.Write(out); err != nil {
					t.Fatal(err)
				}
				return r.finish()
			}

			s, ok := Node{}.Suite(tree, []string{p.tests}, read)
			if !ok {
				t.Fatal("no suite")
			}
			var passed, failed []string
			for test, outcome := range run(Node{}, s).Runs[0] {
				if outcome == Passed {
					passed = append(passed, test)
				} else {
					failed = append(failed, test)
				}
			}
			if len(passed) != 1 || len(failed) != 2 {
				t.Errorf("passed %q, failed %q", passed, failed)
			}
			for _, test := range failed {
				if !strings.Contains(test, "doubles") {
					continue
				}
				s, ok := Node{}.Cover(tree, []locate.Test{{File: p.tests, Name: test}}, read)
				if !ok {
					t.Fatal("no suite for coverage")
				}
				c := &coverReader{Coverer: Node{}}
				run(c, s)
				if len(c.failing) != 1 || len(c.passing) != 1 {
					t.Fatalf("%s: %d fail and %d pass", test, len(c.failing), len(c.passing))
				}
				// Only one test executes the line that triples, and only the other one the last line.
				for _, runs := range [][2]locate.Run{{c.failing[0], c.passing[0]}, {c.passing[0], c.failing[0]}} {
					if !slices.ContainsFunc(runs[0].Blocks, func(b locate.Block) bool {
						return b.Path == "src/price.js" && !slices.Contains(runs[1].Blocks, b)
					}) {
						t.Errorf("%s: %v and %v", test, c.failing, c.passing)
					}
				}
			}
		})
	}
}
