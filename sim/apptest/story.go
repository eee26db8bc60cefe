package apptest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sia-bot/sia/sim/scripted"
)

// Story is one txtar archive: what is on the stage, what people do, and the
// result. Its sections are
//
//	script            what people and GitHub do and when, one step a line; see [Steps]
//	issue             the issue: the title, an empty line, the text
//	issue/<name>      another issue, for the step "open"
//	repo/<path>       a file of the repository
//	owner/<path>      a file of the owner's .github repository
//	push/<name>/<path> a file that the step "push" pushes
//	<model>/<name>, file/<path>
//	                  the scripted model, as package scripted reads it
//	want/<name>       the golden result
//
// What a story leaves out it takes from the archive default.txtar beside it. A
// file with the content "(none)" is left out of the repository. The words
// before the first section say what the story is about. A line "like: <name>"
// among them takes everything but the script, the result included, from another
// story: what is different there must not make a difference. A line "coders: <names>"
// says who may work, from the cheapest: each name is that of a model, too.
type Story struct {
	Name    string
	About   string
	Like    string   // name of the story that it takes from
	Coders  []string // who may work; none: the model coder alone
	path    string
	archive *txtar.Archive
	parts   map[string]string // by section, defaults and the story it is like included
	taken   []string          // sections that come from elsewhere, in order
}

// defaults is the archive that fills in what a story leaves out.
const defaults = "default.txtar"

// Stories reads all stories of a folder, by name.
func Stories(t testing.TB, dir string) []Story {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var all []Story
	for _, p := range paths {
		if filepath.Base(p) == defaults {
			continue
		}
		s, err := readStory(p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// Start sets the stage for a story without playing it, for tests that go on in
// their own way.
func (s Story) Start(t testing.TB) *Stage {
	t.Helper()
	return s.StartWith(t, func(*Config) {})
}

// StartWith is Start on a stage that is changed first.
func (s Story) StartWith(t testing.TB, tune func(*Config)) *Stage {
	t.Helper()
	model, err := s.model()
	if err != nil {
		t.Fatal(err)
	}
	c := s.config(model)
	tune(&c)
	return Start(t, c)
}

func readStory(file string) (Story, error) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		return Story{}, fmt.Errorf("read story: %w", err)
	}
	s := Story{Name: strings.TrimSuffix(filepath.Base(file), ".txtar"), About: string(a.Comment), path: file, archive: a,
		parts: map[string]string{}}
	var from []string
	for line := range strings.Lines(s.About) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "like: "); ok {
			s.Like = name
			from = append(from, name+".txtar")
		}
		if names, ok := strings.CutPrefix(strings.TrimSpace(line), "coders: "); ok {
			s.Coders = strings.Fields(names)
		}
	}
	for _, name := range append(from, defaults) {
		other, err := txtar.ParseFile(filepath.Join(filepath.Dir(file), name))
		if err != nil {
			return Story{}, fmt.Errorf("story %s builds on %s: %w", s.Name, name, err)
		}
		s.take(other)
		// Each archive's new rules come before those of the archives after it, and
		// its others in their places.
		names := make([]string, len(other.Files))
		for i, f := range other.Files {
			names[i] = f.Name
		}
		s.taken = append(slices.DeleteFunc(s.taken, func(n string) bool { return slices.Contains(names, n) }), names...)
	}
	s.own(a)
	if s.parts["script"] == "" || s.parts["issue"] == "" {
		return Story{}, fmt.Errorf("story %s: it needs the sections script and issue", s.Name)
	}
	return s, nil
}

// take takes what the story does not have from another archive.
func (s *Story) take(a *txtar.Archive) {
	for _, f := range a.Files {
		if _, ok := s.parts[f.Name]; !ok {
			s.parts[f.Name] = string(f.Data)
		}
	}
}

// own takes what the story brings itself.
func (s *Story) own(a *txtar.Archive) {
	for _, f := range a.Files {
		s.parts[f.Name] = string(f.Data)
	}
}

// under are the parts beneath a folder, by the rest of their name.
func (s *Story) under(folder string) map[string]string {
	files := map[string]string{}
	for name, text := range s.parts {
		if rest, ok := strings.CutPrefix(name, folder+"/"); ok && strings.TrimSpace(text) != "(none)" {
			files[rest] = text
		}
	}
	return files
}

// config is what the story has on the stage.
func (s *Story) config(model scripted.Script) Config {
	c := Config{Files: s.under("repo"), Model: model, Coders: s.Coders}
	if owner := s.under("owner"); len(owner) > 0 {
		c.Owner = owner
	}
	return c
}

// model is the scripted model. A rule of the story takes the place of the rule of
// that name that it takes from elsewhere; its other rules come first.
func (s *Story) model() (scripted.Script, error) {
	var rules txtar.Archive
	add := func(name string) {
		if s.isModel(name) && strings.TrimSpace(s.parts[name]) != "(none)" {
			rules.Files = append(rules.Files, txtar.File{Name: name, Data: []byte(s.parts[name])})
		}
	}
	for _, f := range s.archive.Files {
		if !slices.Contains(s.taken, f.Name) {
			add(f.Name)
		}
	}
	for _, name := range s.taken {
		add(name)
	}
	script, err := scripted.Parse(txtar.Format(&rules))
	if err != nil {
		return script, fmt.Errorf("story %s: %w", s.Name, err)
	}
	return script, nil
}

// isModel reports whether a section belongs to the scripted model.
func (s *Story) isModel(name string) bool {
	folder, _, _ := strings.Cut(name, "/")
	return slices.Contains(append([]string{"coder", "sia", "reviewer", "any", "file"}, s.Coders...), folder)
}

// Play plays the story and compares its result with what the archive says;
// with update, it is written there instead. Nothing that was posted on the way may show
// people more words than [WordLimits] has for it.
func (s Story) Play(t *testing.T, update bool) {
	t.Helper()
	s.PlayWith(t, update, func(*Config) {})
}

// PlayWith is Play on a stage that is changed first.
func (s Story) PlayWith(t *testing.T, update bool, tune func(*Config)) {
	t.Helper()
	model, err := s.model()
	if err != nil {
		t.Fatal(err)
	}
	config := s.config(model)
	log := &synced{w: &bytes.Buffer{}}
	config.Log = log
	tune(&config)
	t.Cleanup(log.end) // after the stage's own
	stage := Start(t, config)
	t.Cleanup(func() {
		if t.Failed() && testing.Verbose() {
			t.Logf("the application's log:\n%s", log.String())
		}
	})
	play := &player{Stage: stage, story: s}
	if err := play.play(s.parts["script"]); err != nil {
		t.Fatalf("%s: %v", s.path, err)
	}
	stage.Go()
	stage.Settle()
	stage.brief()
	got := stage.Record()
	switch {
	case s.Like != "":
		s.compare(t, got, "what is different here made a difference")
	case update:
		s.update(t, got)
	default:
		s.compare(t, got, "it ended differently; go test ./app -run Story -update writes it anew, look at the diff")
	}
}

// Played is the stage once the story was played, for tests that go on from there.
func (s Story) Played(t testing.TB) *Stage {
	t.Helper()
	stage := s.Start(t)
	play := &player{Stage: stage, story: s}
	if err := play.play(s.parts["script"]); err != nil {
		t.Fatalf("%s: %v", s.path, err)
	}
	stage.Go()
	stage.Settle()
	return stage
}

// compare compares the golden sections. A story that is like another may reach
// the same result by other decisions.
func (s Story) compare(t *testing.T, got []txtar.File, why string) {
	t.Helper()
	want := s.under("want")
	have := map[string]string{}
	for _, f := range got {
		have[strings.TrimPrefix(f.Name, "want/")] = string(f.Data)
	}
	if s.Like != "" {
		for _, m := range []map[string]string{want, have} {
			delete(m, "decisions")
			for name, text := range m {
				m[name] = timeless(text)
			}
		}
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("%s: %s (-want +got):\n%s", s.path, why, diff)
	}
}

// update writes the golden sections into the archive.
func (s Story) update(t *testing.T, got []txtar.File) {
	t.Helper()
	a := &txtar.Archive{Comment: s.archive.Comment}
	for _, f := range s.archive.Files {
		if !strings.HasPrefix(f.Name, "want/") {
			a.Files = append(a.Files, f)
		}
	}
	a.Files = append(a.Files, got...)
	if err := os.WriteFile(s.path, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}
