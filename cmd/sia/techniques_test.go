package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/learn"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// The command reports techniques that are on trial, kept or retired, by the outcomes in the database.
func TestTechniques(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	s := storetest.Open(t, store.Config{URL: filepath.Join(dir, "sia.db")})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	shop := sia.Repo{ID: 7, Owner: "acme", Name: "shop"}
	must(s.UpsertInstallation(ctx, store.Installation{ID: 3, Account: "acme"}))
	must(s.UpsertRepository(ctx, store.Repository{Installation: 3, Repo: shop}))
	run := func(args ...string) (code int, out, errs string) {
		var o, e bytes.Buffer
		code = runCommand(ctx, append([]string{"techniques", "--dir", dir}, args...), &o, &e)
		return code, o.String(), e.String()
	}
	_, out, _ := run()
	if !strings.Contains(out, "no technique is on trial") {
		t.Errorf("an empty database: %s", out)
	}
	for i, id := range []sia.TechniqueID{"good", "bad", "new", "newer", "newest"} {
		_, err := s.NoteTrials(ctx, shop.ID, time.Unix(int64(1_800_000_000+i), 0), id)
		must(err)
		for n := range map[sia.TechniqueID]int{"good": 30, "bad": 30}[id] {
			_, err := s.RecordOutcome(ctx,
				store.Outcome{Task: sia.TaskID(fmt.Sprintf("7-%d%s", n, id)), Intervention: 1, Repo: shop,
					Pattern: sia.WrongOrder, Technique: id, Resolved: id == "good" && n > 3, Attempt: 1, Setup: "s"})
			must(err)
		}
	}
	must(s.Close())
	code, out, errs := run("--repo", "acme/shop", "--output", "json")
	var rows []trialRow
	if err := json.Unmarshal([]byte(out), &rows); code != 0 || err != nil {
		t.Fatalf("exit %d: %v: %s%s", code, err, out, errs)
	}
	got := map[sia.TechniqueID]learn.TrialState{}
	for _, r := range rows {
		got[r.Technique] = r.State
	}
	want := map[sia.TechniqueID]learn.TrialState{"good": learn.TrialKept, "bad": learn.TrialRetired,
		"new": learn.TrialActive, "newer": learn.TrialActive, "newest": learn.TrialWaits}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, out, _ = run(); !strings.Contains(out, "remove .sia/techniques/bad.md") {
		t.Errorf("what to do is not said: %s", out)
	}
	if code, _, errs = run("--repo", "acme/none"); code != 1 || !strings.Contains(errs, "acme/none") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
