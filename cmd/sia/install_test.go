package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// packed returns a release's archive with a program in it.
func packed(t *testing.T, name, program string) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	if err := w.WriteHeader(&tar.Header{Name: name + "/sia", Mode: 0o755, Size: int64(len(program))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(program)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// install.sh installs the release for the machine, and refuses an archive with a wrong checksum.
//
//test:thorough
func TestInstallScript(t *testing.T) {
	script, err := os.ReadFile("../../install.sh")
	if err != nil {
		t.Fatal(err)
	}
	name := "sia_v1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH
	archive := packed(t, name, "#!/bin/sh\necho this is v1.2.3\n")
	good := fmt.Sprintf("%x  ./%s.tar.gz\n", sha256.Sum256(archive), name)
	other := strings.Repeat("0", 64) + "  ./sia_v1.2.3_plan9_mips.tar.gz\n"
	for _, c := range []struct {
		name, version, sums string
		want                string // part of the output
		installed           bool
	}{
		{"the latest", "", other + good, "is installed as", true},
		{"by its version", "v1.2.3", good, "is installed as", true},
		{"no such version", "v9.9.9", good, "there is no ", false},
		{"no version", "newest", good, "is no version", false},
		{"another checksum", "", strings.Repeat("0", 64) + good[64:], "nothing was installed", false},
		{"not for this machine", "", other, "the release has nothing for", false},
		{"a name that leads elsewhere", "", strings.Replace(good, "./sia", "../sia", 1), "the release has nothing for",
			false},
		{"two of them", "", good + good, "several archives", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := http.NewServeMux()
			for _, from := range []string{"/latest/download/", "/download/v1.2.3/"} {
				files.HandleFunc(from+"checksums.txt", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.sums) })
				files.HandleFunc(from+name+".tar.gz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive) })
			}
			srv := httptest.NewServer(files)
			defer srv.Close()
			prefix := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "sh")
			cmd.Stdin = bytes.NewReader(script) // as with curl | sh
			cmd.Env = append(os.Environ(), "SIA_RELEASES="+srv.URL, "SIA_PREFIX="+prefix, "SIA_VERSION="+c.version)
			out, err := cmd.CombinedOutput()
			if (err == nil) != c.installed || !strings.Contains(string(out), c.want) {
				t.Fatalf("%v, want %q in:\n%s", err, c.want, out)
			}
			said, err := exec.CommandContext(t.Context(), filepath.Join(prefix, "bin", "sia")).Output() //nolint:gosec // ours
			if (err == nil) != c.installed || c.installed && string(said) != "this is v1.2.3\n" {
				t.Errorf("installed: %q, %v", said, err)
			}
		})
	}
}

// The formula names each archive of a release with its checksum, and is not created if one is missing.
func TestFormula(t *testing.T) {
	var sums strings.Builder
	for i, of := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"} {
		fmt.Fprintf(&sums, "%064d  ./sia_v1.2.3_%s.tar.gz\n", i, of)
	}
	file := filepath.Join(t.TempDir(), "checksums.txt")
	if err := os.WriteFile(file, []byte(sums.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("../../.ci/formula") // so that the test cache depends on it
	if err != nil {
		t.Fatal(err)
	}
	formula := func(version string) *exec.Cmd {
		return exec.CommandContext(t.Context(), "bash", "-c", string(script), "formula", version, file)
	}
	out, err := formula("v1.2.3").Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, of := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"} {
		want := fmt.Sprintf("/download/v1.2.3/sia_v1.2.3_%s.tar.gz\"\n      sha256 \"%064d\"\n", of, i)
		if !strings.Contains(string(out), want) {
			t.Errorf("want %q in:\n%s", want, out)
		}
	}
	if err := formula("v1.2.4").Run(); err == nil {
		t.Error("a formula was made of a release that has no archives")
	}
}

// A shell and the program's parser accept each command of the first five minutes.
func TestFiveMinutes(t *testing.T) {
	doc, err := os.ReadFile("../../docs/five-minutes.md")
	if err != nil {
		t.Fatal(err)
	}
	parser, err := newParser(&commandLine{}, &bytes.Buffer{}, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	seen, lines := map[string]bool{}, [][2]string(nil)
	for line := range strings.Lines(string(doc)) {
		if !strings.HasPrefix(line, "sia ") {
			continue
		}
		line, _, _ = strings.Cut(strings.TrimSpace(line), "   #")
		command := strings.Fields(line)[1]
		seen[command], lines = true, append(lines, [2]string{command, line})
	}
	examplesParse(t, parser, lines)
	for _, way := range []string{"run", "demo", "serve"} {
		if !seen[way] {
			t.Errorf("docs/five-minutes.md does not show sia %s", way)
		}
	}
}
