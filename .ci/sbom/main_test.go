//test:plain
package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The program that is released has a bill: with SQLite, which it has within it, and with the Go that built
// it; twice the same.
func TestBillOfSIA(t *testing.T) {
	program := filepath.Join(t.TempDir(), "sia")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program,
		"github.com/sia-bot/sia/cmd/sia").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := run([]string{program}, out); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != second.String() {
		t.Error("two bills of one program differ")
	}
	var b bill
	if err := json.Unmarshal(first.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, c := range b.Components {
		versions[c.Name] = c.Version
	}
	if v := versions["modernc.org/sqlite"]; !strings.HasPrefix(v, "v1.") || len(versions) < 30 {
		t.Errorf("SQLite is %q of %v", v, versions)
	}
	if want := strings.TrimPrefix(runtime.Version(), "go"); versions["std"] != want {
		t.Errorf("Go is %q, want %q", versions["std"], want)
	}
}

// A module is named as others name it; one that stands in another's place is named itself.
func TestBill(t *testing.T) {
	b := billOf(&buildinfo.BuildInfo{
		GoVersion: "go1.26.8",
		Main:      debug.Module{Path: "example.com/sia", Version: "v1.2.3+dirty"},
		Deps: []*debug.Module{
			{Path: "github.com/BurntSushi/toml", Version: "v1.5.0", Sum: "h1:abc="},
			{Path: "example.com/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/new", Version: "v1.0.1"}},
		},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "-ldflags", Value: "-X secret"}},
	})
	var refs []string
	for _, c := range b.Components {
		refs = append(refs, c.PURL)
	}
	if diff := cmp.Diff([]string{"pkg:golang/example.com/new@v1.0.1", "pkg:golang/github.com/burntsushi/toml@v1.5.0",
		"pkg:golang/std@1.26.8"}, refs); diff != "" {
		t.Error(diff)
	}
	if c := b.Metadata.Component; c.PURL != "pkg:golang/example.com/sia@v1.2.3%2Bdirty" ||
		!cmp.Equal(c.Properties, []property{{"go:build:GOOS", "linux"}}) {
		t.Errorf("%+v", c)
	}
	if !cmp.Equal(b.Dependencies[0].On, refs) {
		t.Errorf("%+v", b.Dependencies)
	}
}

// What is no program of Go's has no bill.
func TestNoBill(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"a", "b"}, {text}, {text + "none"}} {
		if err := run(args, &bytes.Buffer{}); err == nil {
			t.Errorf("%q has a bill", args)
		}
	}
}
