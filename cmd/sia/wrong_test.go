package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/cmd/internal/cli"
)

// An invalid command line exits 2 before anything is begun, with the error in words. The script wrong covers errors
// that depend on files and repositories.
func TestWrongUsage(t *testing.T) {
	config := filepath.Join(t.TempDir(), "sia.yml")
	if err := os.WriteFile(config, []byte("models: {a: {url: http://x, model: y, price: {input: -1, output: abc}}}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	const pods = "runner pods --server https://sia.example.com --namespace attempts "
	for args, want := range map[string]string{
		"task show foo":                         `<task>: "foo" is no task; write it as owner/name#issue`,
		"task stop acme/shop#0":                 "is no task",
		"task list --db mysql://x":              "kind of database that is not known",
		"audit --repo shop":                     `--repo: "shop" is no repository; write it as owner/name`,
		"pause --repo shop":                     `--repo: "shop" is no repository`,
		"serve --listen 8080":                   `--listen: "8080" is no address to listen at; write it such as :8080`,
		"serve --repos foo":                     `--repos: "foo"`,
		"serve --trusted-proxies 300.1.1.1":     `--trusted-proxies: "300.1.1.1" is neither an address`,
		"serve --setup-hosts http://x/y":        "--setup-hosts: ",
		"serve --notify-url notaurl":            "is not an http or https address",
		"serve --listen :99999":                 `--listen: ":99999" has a port that there is not`,
		"runner --server foo":                   `--server: "foo" is no http or https address`,
		"serve --config " + config:              `models.a.price.output: want a number from 0 to 1000000000; this is "abc"`,
		"serve --config " + config + ".missing": "--config or SIA_CONFIG: there is no file or folder",
		"run --issue x --credits 0":             `--credits: "0" is too little; give at least 1`,
		"run --issue x --approaches 21":         `--approaches: "21" is out of range; give 1 to 20`,
		"serve --db nonsense":                   `--db: "nonsense" is no database`,
		"serve --db host=h":                     "--db: open the database: words such as host=",
		"serve --attempts 0":                    `--attempts: "0" is out of range; give 1 to 10000`,
		"serve --role intak":                    `--role: there is no role "intak"; give intake, work, web or all`,
		"serve --role work":                     "--role work: servers with roles share a database",
		"serve --write-spacing=-1s":             `--write-spacing: "-1s" is too little`,
		"serve --price-input=-1":                `--price-input: "-1" is too little; give at least 0`,
		"serve --public-url nonsense":           `--public-url: "nonsense" is no http or https address`,
		"setup --public-url sia.x":              `--public-url: "sia.x" is no http or https address`,
		"setup --org a/b":                       `--org: "a/b" is no login`,
		"setup --port 99999":                    `--port: "99999" is out of range; give 0 to 65535`,
		"forget-person a/b":                     `"a/b" is no login`,
		"health ftp://x":                        `"ftp://x" is no http or https address`,
		"log --lines 0 x":                       `--lines: "0" is too little`,
		"bench --rate 0":                        `--rate: "0" is out of range; give 1 to 100000`,
		"bench --tasks 0":                       `--tasks: "0" is too little; give at least 1`,
		"demo --timeout=-1s":                    `--timeout: "-1s" is too little`,
		"demo --issue x":                        "--issue and --test go with --repo",
		"demo --repo x --keep":                  "--keep goes with the story",
		"demo --repo x":                         "--repo needs a real model",
		"man nonsense":                          `there is no command "nonsense"`,
		"memory show bogus":                     "neither owner/name#issue nor owner/name",
		pods:                                    "missing flags: --image=IMAGE",
		pods + "--image x --pending 1h":         `--pending: "1h" is out of range; give 1s to 15m`,
		"forget-person ''":                      `"" is no login`,
		"task stop ''":                          `"" is no task`,
		"policies propose --repo o/r --reason why name nothing": "is no change",
	} {
		var said strings.Builder
		words := strings.Fields(args)
		for i := range words {
			words[i] = strings.Trim(words[i], "'")
		}
		if code := runCommand(t.Context(), words, io.Discard, &said); code != cli.ExitUsage ||
			!strings.Contains(said.String(), want) {
			t.Errorf("sia %s: exit %d, want %q: %s", args, code, want, said.String())
		}
	}
}

// TestDemoWithoutGo: the demo's repository is a Go module. Without Go its check would fail for another reason than the
// story tells.
func TestDemoWithoutGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var said strings.Builder
	if code := runCommand(t.Context(), []string{"demo"}, io.Discard, &said); code != cli.ExitUsage ||
		!strings.Contains(said.String(), "the demo needs git, which is not in PATH") {
		t.Errorf("exit %d: %s", code, said.String())
	}
}
