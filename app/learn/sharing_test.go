package learn

import (
	"context"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/policies/priors"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/technique"
)

// The public list of names equals SIA's own: otherwise outcomes would be counted under other names, or not.
func TestThePublicListIsOurs(t *testing.T) {
	var patterns, techniques, kinds []string
	for _, p := range sia.Patterns {
		patterns = append(patterns, string(p))
	}
	for _, k := range library(t).All() {
		techniques = append(techniques, string(k.ID))
	}
	for _, k := range policies.Kinds() {
		kinds = append(kinds, string(k))
	}
	if d := cmp.Diff(patterns, priors.Patterns()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(kinds, priors.Kinds()); d != "" {
		t.Error(d)
	}
	if len(techniques) != len(priors.Techniques()) {
		t.Errorf("%d techniques ship, and %d are on the list", len(techniques), len(priors.Techniques()))
	}
	for _, k := range priors.Techniques() {
		if !strings.Contains(" "+strings.Join(techniques, " ")+" ", " "+k+" ") {
			t.Errorf("%s does not ship", k)
		}
	}
	table := policies.ShippedCoders()
	for _, c := range priors.Coders() {
		if known, ok := table.Of(c); c != priors.Other && (!ok || known.Name != c) {
			t.Errorf("the table that ships knows %q as %q", c, known.Name)
		}
	}
	source, err := os.ReadFile("../../policies/defaults/coders.yml")
	if err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(string(source), "\n  - {name:"); len(priors.Coders()) != rows+1 {
		t.Errorf("the table that ships has %d models, and the list %d", rows, len(priors.Coders())-1)
	}
}

// agreed returns a Sharing for some repositories.
func agreed(s *store.Store, ids ...int64) *Sharing {
	return NewSharing(s, func(_ context.Context, r store.Repository) (bool, error) {
		for _, id := range ids {
			if r.ID == id {
				return true, nil
			}
		}
		return false, nil
	}, func() time.Time { return time.Unix(1_800_000_000, 0) })
}

// install stores repositories.
func install(t *testing.T, s *store.Store, repos ...sia.Repo) {
	t.Helper()
	if err := s.UpsertInstallation(t.Context(), store.Installation{ID: 1, Account: "ada"}); err != nil {
		t.Fatal(err)
	}
	for _, r := range repos {
		if err := s.UpsertRepository(t.Context(), store.Repository{Repo: r, Installation: 1}); err != nil {
			t.Fatal(err)
		}
	}
}

// fillOutcomes fills a database with random results of tasks, except task without.
func fillOutcomes(t *testing.T, without sia.TaskID) *store.Store {
	t.Helper()
	s := database(t)
	install(t, s, shop)
	dice := mathrand.New(mathrand.NewPCG(5, 6))
	all := library(t).All()
	for i := range 40 {
		id := sia.NewTaskID(shop.ID, i)
		for n := range 1 + dice.IntN(3) {
			o := store.Outcome{Task: id, Intervention: n + 1, Repo: shop, Pattern: sia.Patterns[dice.IntN(len(sia.Patterns))],
				Technique: all[dice.IntN(len(all))].ID, Attempt: n, Resolved: dice.IntN(2) == 0}
			c := store.CoderOutcome{Task: id, Attempt: n + 1, Repo: shop.ID, Org: shop.Owner, Kind: "bug", Coder: fmt.Sprint(n),
				Agent: []string{"builtin/gpt-5", "builtin/ours"}[dice.IntN(2)], Resolved: dice.IntN(2) == 0, At: time.Unix(1, 0)}
			for f := range n {
				c.Failed = append(c.Failed, fmt.Sprint(f))
			}
			if id == without {
				continue
			}
			record(t, s, o)
			if err := s.RecordCoderOutcome(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

// exact returns the counts of a database without noise: it subtracts the noise drawn from the same bits for empty
// counts.
func exact(t *testing.T, s *store.Store) priors.Counts {
	t.Helper()
	noise := func() *priors.Noise { return priors.NewNoise(mathrand.NewChaCha8([32]byte{9})) }
	draft, err := agreed(s, shop.ID).Draft(t.Context(), "k", noise())
	if err != nil {
		t.Fatal(err)
	}
	nothing, err := priors.Counts{}.Blur(noise())
	if err != nil {
		t.Fatal(err)
	}
	for c, n := range nothing {
		x := draft.Report.Counts[c]
		draft.Report.Counts[c] = priors.Tally{Resolved: x.Resolved - n.Resolved, Failed: x.Failed - n.Failed}
	}
	return draft.Report.Counts
}

// If two databases differ in one task, the counts differ by at most 2 before noise, regardless of the task.
//
//test:plain
func TestOneTaskMovesLittle(t *testing.T) {
	all := exact(t, fillOutcomes(t, ""))
	moved := map[int64]int{}
	for _, issue := range []int{0, 7, 19, 39} {
		less, distance := exact(t, fillOutcomes(t, sia.NewTaskID(shop.ID, issue))), int64(0)
		for c, x := range all {
			y := less[c]
			distance += max(x.Resolved-y.Resolved, y.Resolved-x.Resolved) + max(x.Failed-y.Failed, y.Failed-x.Failed)
		}
		moved[distance]++
	}
	if moved[priors.Sensitivity] != 4 {
		t.Errorf("L1 distances and how often: %v", moved)
	}
}

// Repositories that have not agreed are omitted completely, and so are tasks rebuilt from memory, because it is unknown
// whether they were shared before.
func TestWhatIsShared(t *testing.T) {
	s := database(t)
	quiet, gone := sia.Repo{ID: 8, Owner: "ada", Name: "quiet"}, sia.Repo{ID: 9, Owner: "ada", Name: "gone"}
	install(t, s, shop, quiet)
	for _, r := range []sia.Repo{shop, quiet, gone} {
		for i := range 3 {
			record(t, s, store.Outcome{Task: sia.NewTaskID(r.ID, i), Intervention: 1, Repo: r, Pattern: sia.WrongTool,
				Technique: sia.ToolChange})
		}
	}
	rebuilt := sia.NewTaskID(shop.ID, 1)
	_, err := s.Apply(t.Context(), rebuilt,
		sia.Event{ID: "reindex", At: time.Unix(1, 0), Fact: sia.Restored{Task: sia.Task{
			ID: rebuilt, Version: 2, Installation: 1, Repo: shop, Issue: 1, State: sia.Passed, CreatedAt: time.Unix(1, 0)}}})
	if err != nil {
		t.Fatal(err)
	}
	// A technique of a later attempt is not the first.
	record(t, s, store.Outcome{Task: "7-90", Intervention: 2, Repo: shop, Pattern: sia.WrongTool,
		Technique: sia.ToolChange, Attempt: 1})
	key, err := priors.NewKey(mathrand.NewChaCha8([32]byte{1}))
	if err != nil {
		t.Fatal(err)
	}
	x := agreed(s, shop.ID, gone.ID)
	r, what, err := x.Export(t.Context(), key, priors.NewNoise(mathrand.NewChaCha8([32]byte{2})))
	if err != nil {
		t.Fatal(err)
	}
	if what.Techniques != 2 || what.Coders != 0 || what.Repositories != 1 || what.Silent != 1 {
		t.Errorf("%+v", what)
	}
	read, err := priors.ReadReport(r.Signed)
	if err != nil || read.Period != 1 || read.Key != key.Public() {
		t.Errorf("period %d, %v", read.Period, err)
	}
	kept, err := s.LastSharedReport(t.Context())
	if err != nil || string(kept.Signed) != string(r.Signed) {
		t.Errorf("another report is kept: %v", err)
	}
	if _, _, err := x.Export(t.Context(), key, priors.NewNoise(mathrand.NewChaCha8([32]byte{3}))); err == nil {
		t.Error("the same tasks are shared twice")
	}
	both, err := agreed(s, shop.ID, quiet.ID).Draft(t.Context(), "", priors.NewNoise(mathrand.NewChaCha8([32]byte{3})))
	if err != nil || both.Techniques != 3 || both.Report.Period != 2 {
		t.Errorf("once the other agrees: %+v, %v", both.Techniques, err)
	}
}

// imports brings priors into force with a technique that resolves every failure of a pattern, and a model that resolves
// every task.
func imports(t *testing.T, s *store.Store) int64 {
	t.Helper()
	var rs []priors.Report
	for i := range 30 {
		rs = append(rs, priors.Report{Key: fmt.Sprint(i), Period: 1, Counts: priors.Counts{
			{Language: "go", Pattern: string(sia.WrongOrder), Technique: string(sia.FreshStart)}: {Resolved: 400},
			{Language: "go", Kind: "bug", Coder: "gpt-oss-120b"}:                                 {Resolved: 400},
			{Language: "go", Kind: "bug", Coder: "GPT-5 (2025-08-07) (medium reasoning)"}:        {Failed: 400},
		}})
	}
	p, err := priors.Aggregate(rs, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	key, err := priors.NewKey(mathrand.NewChaCha8([32]byte{4}))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := p.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.ImportPriors(t.Context(),
		store.PriorImport{Source: "test", Key: key.Public(), Signed: signed, At: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Imported priors are used for nine tasks in ten, and a logged decision can be repeated from the log alone after the
// import was removed.
func TestImportedPriorsDecide(t *testing.T) {
	s := database(t)
	by := keep(t, s, inForce(t, policies.TypeTechnique))
	id := imports(t, s)
	w := replica(t, s)
	if err := w.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	var logged []sia.Decision
	told, without, followed := 0, 0, 0
	for issue := range 200 {
		task := sia.Task{ID: sia.NewTaskID(7, issue), Repo: shop, Approaches: 5, Attempts: []sia.Attempt{{Number: 1}}}
		cs := w.Candidates(technique.Trials{Library: library(t)}, task, "go", sia.WrongOrder, shipped(t))
		chosen, err := w.Choose(task, "go", sia.Effect{Key: fmt.Sprint(issue), Attempt: 1},
			diagnose.Choice{Pattern: sia.WrongOrder, Candidates: cs}, shipped(t), technique.Trials{})
		if err != nil {
			t.Fatal(err)
		}
		logged = append(logged, *chosen.Decision)
		q, err := questionOf(*chosen.Decision)
		if err != nil || q.Import != id || q.Language != "go" {
			t.Fatalf("%+v, %v", q, err)
		}
		best := firstOption(t, *chosen.Decision)
		if q.Spared {
			if without++; best.Technique != string(sia.DependencyReordering) || best.Imported != (bandit.Tally{}) {
				t.Errorf("decided without it: %+v", best)
			}
			continue
		}
		told++
		if best.Technique == string(sia.FreshStart) && best.Imported.Tried == 240 {
			followed++
		}
	}
	if followed != told || without < 10 || without > 32 { // 20 of 200, and four standard deviations
		t.Errorf("%d of %d followed what was imported, %d were decided without it", followed, told, without)
	}
	if err := s.RemovePriors(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(choices(logged), replayAll(t, s, by, logged...)); d != "" {
		t.Errorf("after the import was removed: %s", d)
	}
	if err := w.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if is, p := w.others.of(logged[0].Task); is != (byImport{}) || p != nil {
		t.Errorf("what was removed is still in force: %+v", is)
	}
	repeat(t, s, logged[0])
}

func firstOption(t *testing.T, d sia.Decision) bandit.Option {
	t.Helper()
	var options []bandit.Option
	if err := json.Unmarshal(d.Options, &options); err != nil || len(options) == 0 {
		t.Fatalf("%s: %v", d.Options, err)
	}
	return options[0]
}

// Imported priors affect only coders with models listed in the table.
func TestImportedPriorsChooseCoders(t *testing.T) {
	s := database(t)
	by := keep(t, s, inForce(t, policies.TypeAssign))
	coders := []coder.Candidate{{Coder: "gpt", Cost: 5, Prior: 0.64, Known: "GPT-5 (2025-08-07) (medium reasoning)"},
		{Coder: "oss", Cost: 5, Prior: 0.264, Known: "gpt-oss-120b"}, {Coder: "ours", Cost: 5}}
	ask := func(issue int) sia.Decision {
		return decideTask(t, decider(t, s), nextAttempt(issue), sia.DecideAssign, coders)
	}
	issue := 1
	for ; isSpared(sia.NewTaskID(shop.ID, issue)); issue++ {
	}
	apart := 1
	for ; !isSpared(sia.NewTaskID(shop.ID, apart)); apart++ {
	}
	if d := best(t, ask(issue)); d.Coder != "gpt" {
		t.Errorf("before: %+v", d)
	}
	imports(t, s)
	d := ask(issue)
	if o := best(t, d); o.Coder != "oss" || o.Imported.Tried != 60 || o.Chance < 0.6 {
		t.Errorf("after: %+v", o)
	}
	if d := best(t, ask(apart)); d.Coder != "gpt" || d.Imported.Tried != 0 {
		t.Errorf("without it: %+v", d)
	}
	if err := s.RemovePriors(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := replayAll(t, s, by, d); got[0] != d.Choice {
		t.Errorf("decided again: %q, want %q", got, d.Choice)
	}
}

func best(t *testing.T, d sia.Decision) coder.Option {
	t.Helper()
	var options []coder.Option
	if err := json.Unmarshal(d.Options, &options); err != nil || len(options) == 0 {
		t.Fatalf("%s: %v", d.Options, err)
	}
	return options[0]
}

func TestWorthOf(t *testing.T) {
	var ds []sia.Decision
	add := func(n int, context, outcome, policy string) {
		for range n {
			ds = append(ds, sia.Decision{Type: sia.DecideTechnique, Policy: policy, Context: json.RawMessage(context),
				Outcome: outcome})
		}
	}
	add(60, `{"import":2}`, outcomeResolved, "p")
	add(40, `{"import":2}`, outcomeFailed, "p")
	add(4, `{"import":2,"spared":true}`, outcomeResolved, "p")
	add(6, `{"import":2,"spared":true}`, outcomeFailed, "p")
	add(9, `{"import":2,"attempt":1}`, outcomeResolved, "p") // not the first
	add(9, `{"import":2}`, outcomeUntried, "p")
	add(9, `{"import":2}`, "", "p")
	add(9, `{"import":2}`, outcomeResolved, policyUser)
	add(9, `{"import":1}`, outcomeResolved, "p")
	add(9, `{}`, outcomeResolved, "p")
	w, err := MeasureImport(2, ds)
	if err != nil {
		t.Fatal(err)
	}
	if w.With != (Tally{100, 60}) || w.Without != (Tally{10, 4}) || !w.Known() || w.Difference < 0.199 ||
		w.Difference > 0.201 || !(w.Low < 0 && w.Low > -0.15 && w.High > 0.4 && w.High < 0.5) {
		t.Errorf("%+v", w)
	}
	if w, err := MeasureImport(3, ds); err != nil || w.Known() || w.Difference != 0 {
		t.Errorf("of another: %+v, %v", w, err)
	}
}
