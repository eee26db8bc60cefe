package work

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sim/ghsim"
)

// Test reports that can't be read, because of GitHub or the base, do not count as missing tests.
func TestReportsThatCannotBeRead(t *testing.T) {
	s := openShop(t, "junit", writesReport)
	var answers []func(rw http.ResponseWriter)
	storage := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		answer := answers[0]
		answers = answers[1:]
		answer(rw)
	}))
	t.Cleanup(storage.Close)
	s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if !strings.HasSuffix(r.URL.Path, "/zip") {
			return nil
		}
		return &ghsim.Fault{Status: http.StatusFound, Header: http.Header{"Location": {storage.URL + "/a.zip"}}, Body: "{}"}
	})
	says := func(content []byte) func(http.ResponseWriter) {
		return func(rw http.ResponseWriter) { _, _ = rw.Write(content) }
	}
	fails := func(rw http.ResponseWriter) { rw.WriteHeader(http.StatusInternalServerError) }
	two, broken := says(zipOf(t, "a.xml", strings.NewReader(failedReport))), says([]byte("PK\x03\x04 and no more"))
	many := says(manyFiles(t, 2*maxReportFiles, failedReport))
	w := &checkWorker{common: &common{Deps: Deps{Logger: slog.New(slog.DiscardHandler), Secrets: &secret.Masker{}}}}
	for name, c := range map[string]struct {
		base, head func(http.ResponseWriter)
		was, is    int
		failed     bool
	}{
		"the same":                         {base: two, head: two, was: 2, is: 2},
		"GitHub fails to give the base's":  {base: fails, failed: true},
		"GitHub fails to give the head's":  {base: two, head: fails, failed: true},
		"the base's is broken":             {base: broken},
		"the base's is too much":           {base: many},
		"the head's is broken":             {base: two, head: broken, was: 2},
		"the head's is more than the base": {base: two, head: many, was: 2, is: 2},
	} {
		answers = []func(http.ResponseWriter){c.base, c.head}
		got, err := w.compareReports(t.Context(), s.repo.Actions, s.run, s.run)
		if (err != nil) != c.failed || err == nil && (got.Base != c.was || got.Head != c.is) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
