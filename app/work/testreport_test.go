package work

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sim/ghsim"
)

// quiet is a workflow with tests that write a report and log nothing.
const quiet = `on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: sh ./check.sh
      - uses: actions/upload-artifact@v4
        if: always()
        with: {name: %s, path: out}
`

const failedReport = `<testsuite name="shop"><testcase name="empty"/>
<testcase name="tax" classname="Cart" file="cart_test.rb" line="31">` +
	`<failure>expected 119, got 100</failure></testcase></testsuite>`

// shop is a repository on the simulator with a failed check.
type shop struct {
	sim  *ghsim.Server
	app  *github.App
	in   int64 // installation id
	head string
	repo *github.Repo
	run  github.CheckRun
}

func openShop(t *testing.T, artifact, script string) *shop {
	t.Helper()
	sim, err := ghsim.New(ghsim.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := sim.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	sim.CreateOrg("acme")
	sim.CreateUser("ann")
	made, err := sim.CreateRepo("acme", "shop", ghsim.RepoSpec{Files: map[string]string{"README.md": "shop\n"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.SetPermission("acme/shop", "ann", "maintain"); err != nil {
		t.Fatal(err)
	}
	registered, err := sim.CreateApp("sia")
	if err != nil {
		t.Fatal(err)
	}
	in, err := sim.Install(registered.ID, "acme", "shop")
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{sim: sim, in: in}
	s.app, err = github.New(github.Config{AppID: registered.ID, PrivateKey: registered.PrivateKeyPEM,
		BaseURL: sim.APIURL(), Secrets: &secret.Masker{}, WriteBurst: 100, Writes: github.Uncounted{}})
	if err != nil {
		t.Fatal(err)
	}
	s.repo = s.app.Repo(in, sia.Repo{ID: made.ID, Owner: "acme", Name: "shop"})
	s.push(t, "work", artifact, script)
	return s
}

// push creates a branch with another check, which fails.
func (s *shop) push(t *testing.T, branch, artifact, script string) {
	t.Helper()
	var err error
	s.head, err = s.sim.PushFiles("acme/shop", branch, "ann", branch,
		map[string]string{".github/workflows/ci.yml": fmt.Sprintf(quiet, artifact), "check.sh": script})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.sim.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	set, err := s.repo.Checks.Of(t.Context(), s.head)
	if err != nil || len(set.Runs) != 1 || set.Runs[0].Conclusion != "failure" {
		t.Fatalf("%+v, %v", set, err)
	}
	s.run = set.Runs[0]
}

// read reads the failed check and returns how often artifacts were requested.
func (s *shop) read(t *testing.T) (checkLog, int) {
	t.Helper()
	asked := 0
	s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if strings.Contains(r.URL.Path, "artifacts") {
			asked++
		}
		return nil
	})
	w := &checkWorker{common: &common{Deps: Deps{Logger: slog.New(slog.DiscardHandler)}}}
	log, err := w.readLog(context.Background(), s.repo, s.run, nil)
	if err != nil {
		t.Fatal(err)
	}
	return log, asked
}

const writesReport = "mkdir -p out/a; cat >out/a/TEST-cart.xml <<'E'\n" + failedReport + "\nE\nexit 1\n"

func TestTestReportIsRead(t *testing.T) {
	log, asked := openShop(t, "junit-results", writesReport).read(t)
	f := log.failure
	if f.Class != "test_failure" || !strings.Contains(f.Excerpt, "expected 119, got 100") || f.Line != 0 ||
		len(f.Tests) != 1 || f.Tests[0] != "Cart.tax" || f.Signature == "" || f.Check != "test" {
		t.Errorf("%+v", f)
	}
	if asked != 2 {
		t.Errorf("%d requests", asked)
	}
}

// A log that contains the failure needs no further request, and a run without artifacts that look like a report needs
// only one.
func TestTestReportIsNotNeeded(t *testing.T) {
	s := openShop(t, "junit-results", writesReport)
	for name, c := range map[string]struct {
		artifact, script string
		asked            int
	}{
		"the log tells": {"junit-results", "echo '--- FAIL: TestTotal (0.00s)'; echo '    a_test.go:3: no'; " +
			writesReport, 0},
		"another artifact": {"binaries", writesReport, 1},
		"no failed test": {"test-results",
			"mkdir out; echo '<testsuite><testcase name=\"a\"/></testsuite>' >out/r.xml; exit 1", 2},
		"other XML":         {"test-results", "mkdir out; echo '<a>error: no</a>' >out/r.xml; exit 1", 2},
		"XML that is a log": {"reports", "mkdir out; echo 'FAIL: boom' >out/r.xml; exit 1", 2},
	} {
		s.sim.ClearFaults()
		s.push(t, strings.ReplaceAll(name, " ", "-"), c.artifact, c.script)
		log, asked := s.read(t)
		if asked != c.asked || strings.Contains(log.failure.Excerpt, "expected 119") ||
			strings.Contains(log.failure.Excerpt, "boom") {
			t.Errorf("%s: %d requests, %+v", name, asked, log.failure)
		}
	}
}

// A report uploaded by another job of the run does not count, regardless of its name.
func TestTestReportOfAnotherJob(t *testing.T) {
	s := openShop(t, "junit-results", writesReport)
	workflow := strings.ReplaceAll(fmt.Sprintf(quiet, "test-results"), "  test:", "  cart:") +
		"  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: exit 1\n"
	head, err := s.sim.PushFiles("acme/shop", "two", "ann", "two",
		map[string]string{".github/workflows/ci.yml": workflow, "check.sh": writesReport})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.sim.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	set, err := s.repo.Checks.Of(t.Context(), head)
	if err != nil || len(set.Runs) != 2 {
		t.Fatalf("%+v, %v", set, err)
	}
	for _, s.run = range set.Runs {
		s.sim.ClearFaults()
		log, asked := s.read(t)
		if told := len(log.failure.Tests) == 1; told != (s.run.Name == "cart") || !told && asked != 0 {
			t.Errorf("%s: %d requests, %+v", s.run.Name, asked, log.failure)
		}
	}
}

// A log arrives in parts, with lines of any length.
func TestUploads(t *testing.T) {
	const log = "2026-11-28T20:00:00.1234567Z Artifact unit tests.zip successfully finalized. Artifact ID 41\n" +
		"2026-11-28T20:00:00.1234567Z Artifact e2e has been successfully uploaded! Final size is 9 bytes. " +
		"Artifact ID is 42\n" +
		"Artifact 7 was not successfully uploaded\n"
	var got uploads
	for _, part := range []string{strings.Repeat("x", 3*maxUploadLine), "\n" + log[:40], log[40:]} {
		if n, err := got.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%d of %d bytes, %v", n, len(part), err)
		}
	}
	if want := []string{"unit tests", "e2e"}; !slices.Equal(got.names, want) {
		t.Errorf("%q, want %q", got.names, want)
	}
}

// If an artifact can't be fetched or read, the result from the log stays.
//
//test:plain
func TestTestReportIsBeyondReading(t *testing.T) {
	s := openShop(t, "junit", writesReport)
	var content []byte
	storage := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		if content == nil {
			rw.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = rw.Write(content)
	}))
	t.Cleanup(storage.Close)
	there := func() *ghsim.Fault {
		return &ghsim.Fault{Status: http.StatusFound, Header: http.Header{"Location": {storage.URL + "/a.zip"}}, Body: "{}"}
	}
	for name, c := range map[string]struct {
		answer  *ghsim.Fault
		content []byte
	}{
		"expired":                     {&ghsim.Fault{Status: http.StatusGone}, nil},
		"gone":                        {&ghsim.Fault{Status: http.StatusNotFound}, nil},
		"an address that has expired": {there(), nil},
		"no zip":                      {there(), []byte("PK\x03\x04 and no more")},
		"half a zip":                  {there(), zipOf(t, "a.xml", strings.NewReader(failedReport))[:60]},
		"a zip bomb":                  {there(), zipOf(t, "a.xml", &padded{left: reportLimit + 1<<20})},
		"many files":                  {there(), manyFiles(t, 2*maxReportFiles, "<testsuite/>")},
		"a large zip":                 {there(), make([]byte, artifactLimit+1)},
	} {
		s.sim.ClearFaults()
		content = c.content
		s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
			if strings.HasSuffix(r.URL.Path, "/zip") {
				return c.answer
			}
			return nil
		})
		log, _ := s.read(t)
		if log.failure.Excerpt == "" || len(log.failure.Tests) != 0 || log.failure.Check != "test" {
			t.Errorf("%s: %+v", name, log.failure)
		}
	}
}

func zipOf(t *testing.T, name string, content io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func manyFiles(t *testing.T, n int, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range n {
		w, err := z.Create(fmt.Sprintf("%d.xml", i))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, content)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// padded is a report that begins with many spaces.
type padded struct{ left int }

func (p *padded) Read(b []byte) (int, error) {
	if p.left <= 0 {
		return 0, io.EOF
	}
	n := copy(b, bytes.Repeat([]byte(" "), min(len(b), p.left)))
	p.left -= n
	return n, nil
}
