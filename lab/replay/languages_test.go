package replay_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/lab/replay"
)

// TestLanguages mines a repair in each language, with what is installed, vendored or built before the tests, and a
// commit with tests that can't be loaded without it. Nothing can be fetched.
func TestLanguages(t *testing.T) {
	box := sandboxtest.New(t, sandbox.Options{})
	for _, c := range []struct {
		lang            string
		begin           map[string]string
		repair, addsAPI map[string]string
		failing         []string
	}{
		{"python", map[string]string{"calc.py": "def half(a):\n    return a / 3\n"},
			map[string]string{"calc.py": "def half(a):\n    return a / 2\n", "tests/__init__.py": "# tests\n",
				"tests/test_calc.py": "import unittest\nimport calc\n\n\nclass Halves(unittest.TestCase):\n" +
					"    def test_half(self):\n        self.assertEqual(calc.half(4), 2)\n\n" +
					"    def test_none(self):\n        self.assertEqual(calc.half(0), 0)\n"},
			map[string]string{"more.py": "x = 1\n", "tests/test_more.py": "import unittest\nimport more\n\n\n" +
				"class More(unittest.TestCase):\n    def test_x(self):\n        self.assertEqual(more.x, 1)\n"},
			[]string{"tests/test_calc.py::tests.test_calc.Halves.test_half"}},
		{"python", map[string]string{"pyproject.toml": "[project]\nname = \"calc\"\nversion = \"1.2\"\n" +
			"[project.optional-dependencies]\ntests = [\"pytest>=99\"]\n[tool.pytest.ini_options]\nminversion = \"99\"\n",
			"src/calc/__init__.py": "def half(a):\n    return a / 3\n"},
			map[string]string{"src/calc/__init__.py": "def half(a):\n    return a / 2\n",
				"tests/test_calc.py": "from importlib.metadata import version\nimport calc\n\n\n" +
					"def test_half():\n    assert calc.half(4) == 2\n\n\n" +
					"def test_version():\n    assert version('calc') == '1.2'\n"},
			map[string]string{"src/calc/more.py": "x = 1\n",
				"tests/test_more.py": "from calc.more import x\n\n\ndef test_x():\n    assert x == 1\n"},
			[]string{"tests/test_calc.py::tests.test_calc.test_half"}},
		{"node", map[string]string{"src/calc.js": "exports.half = a => a / 3\n", ".gitignore": "dist\n",
			"package.json": `{"name":"calc","scripts":{"clean":"rm -rf dist","build":"npm run clean && npm run build:js && ` +
				`npm run build:docs","build:js":"mkdir -p dist && cp src/*.js dist","build:docs":"no-such-program",` +
				`"test":"npm run build && node --test"}}` + "\n"},
			map[string]string{"src/calc.js": "exports.half = a => a / 2\n",
				"test/calc.test.js": "const {test} = require('node:test')\nconst assert = require('node:assert')\n" +
					"const {half} = require('../dist/calc')\n" +
					"test('halves', () => assert.equal(half(4), 2))\ntest('nothing', () => assert.equal(half(0), 0))\n"},
			map[string]string{"src/more.js": "exports.x = 1\n", "test/more.test.js": "const {test} = require('node:test')\n" +
				"const {x} = require('../dist/more')\ntest('x', () => { if (x !== 1) throw new Error() })\n"},
			[]string{"test/calc.test.js::halves"}},
		{"node", map[string]string{"calc.js": "exports.half = a => a / 3\n",
			"package.json": `{"name":"calc","scripts":{"test":"node --test"}}` + "\n"},
			map[string]string{"calc.js": "exports.half = a => a / 2\n",
				"test/calc.test.js": "const {test} = require('node:test')\nconst assert = require('node:assert')\n" +
					"const {half} = require('../calc')\n" +
					"test('halves', () => assert.equal(half(4), 2))\ntest('nothing', () => assert.equal(half(0), 0))\n"},
			map[string]string{"more.js": "exports.x = 1\n", "test/more.test.js": "const {test} = require('node:test')\n" +
				"const {x} = require('../more')\ntest('x', () => { if (x !== 1) throw new Error() })\n"},
			[]string{"test/calc.test.js::halves"}},
		{"rust", map[string]string{"src/lib.rs": "pub fn half(a: i32) -> i32 { a / 3 }\n",
			"Cargo.toml": "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"},
			map[string]string{"src/lib.rs": "pub fn half(a: i32) -> i32 { a / 2 }\n",
				"tests/halves.rs": "#[test]\nfn halves() { assert_eq!(calc::half(4), 2); }\n" +
					"#[test]\nfn none() { assert_eq!(calc::half(0), 0); }\n"},
			map[string]string{"src/lib.rs": "pub fn half(a: i32) -> i32 { a / 2 }\npub fn x() -> i32 { 1 }\n",
				"tests/more.rs": "#[test]\nfn x() { assert_eq!(calc::x(), 1); }\n"},
			[]string{"tests/halves.rs::halves"}},
		{"rust", map[string]string{"src/lib.rs": "pub fn half(a: i32) -> i32 { a / part::three() }\n",
			"Cargo.toml": "[package]\nname = \"calc\"\nversion = \"0.1.0\"\n" +
				"edition = \"2021\"\n[dependencies]\npart = \"1\"\n",
			".cargo/config.toml": "[source.crates-io]\n" +
				"replace-with = \"vendored\"\n[source.vendored]\ndirectory = \"vendor\"\n",
			"vendor/part/Cargo.toml":           "[package]\nname = \"part\"\nversion = \"1.0.0\"\nedition = \"2021\"\n",
			"vendor/part/src/lib.rs":           "pub fn two() -> i32 { 2 }\npub fn three() -> i32 { 3 }\n",
			"vendor/part/.cargo-checksum.json": `{"files":{}}`},
			map[string]string{"src/lib.rs": "pub fn half(a: i32) -> i32 { a / part::two() }\n",
				"tests/halves.rs": "#[test]\nfn halves() { assert_eq!(calc::half(4), 2); }\n" +
					"#[test]\nfn none() { assert_eq!(calc::half(0), 0); }\n"},
			map[string]string{"src/lib.rs": "pub fn half(a: i32) -> i32 { a / part::two() }\npub fn x() -> i32 { 1 }\n",
				"tests/more.rs": "#[test]\nfn x() { assert_eq!(calc::x(), 1); }\n"},
			[]string{"tests/halves.rs::halves"}},
	} {
		t.Run(c.lang, func(t *testing.T) {
			r := newClone(t)
			r.commit("Begin", c.begin)
			repair := r.commit("Repair", c.repair)
			adds := r.commit("Add", c.addsAPI)
			f := newFolder(t)
			spec := replay.MineSpec{History: r.open(), Folder: f, Box: box, Repo: "acme/calc"}
			m := mine(t, spec)
			if len(m.Missing) > 0 {
				t.Fatalf("this test needs %v", m.Missing)
			}
			got, err := f.Candidates()
			if err != nil {
				t.Fatal(err)
			}
			if got[repair].Verdict != replay.Verified || got[adds].Verdict != replay.NoBuild {
				t.Errorf("the repair came to %+v, what adds to %+v", got[repair], got[adds])
			}
			tasks, _, err := f.Tasks()
			if err != nil || len(tasks) != 1 {
				t.Fatal(tasks, err)
			}
			task := tasks[0]
			if diff := cmp.Diff(c.failing, task.Failing); diff != "" || len(task.Passing) != 1 || task.Language != c.lang {
				t.Errorf("failing (-want +got):\n%s%+v", diff, task)
			}
			if again, err := replay.Check(t.Context(), spec, tasks, nil); err != nil || len(again.Held) != 1 {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}
