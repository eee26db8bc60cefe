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

// Story is one txtar archive: the stage, people's actions, and the result. Its sections are
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
// Sections that a story lacks come from the archive default.txtar next to it. A file with the content "(none)" is left
// out of the repository. The text before the first section describes the story. A line "like: <name>" in it takes
// everything but the script, the result included, from another story: the differences must not change the result. A
// line "coders: <names>" lists the available coders, cheapest first: each name is also that of a model. With a line
// "sandbox: none" no commands can be run.
type Story struct {
	Name    string
	About   string
	Like    string   // name of the story to inherit from
	Coders  []string // available coders; none: only the coder "model"
	NoBox   bool     // no commands can be run
	path    string
	archive *txtar.Archive
	parts   map[string]string // by section, including inherited ones
	taken   []string          // inherited sections, in order
}

// defaults is the archive with the sections that a story lacks.
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

// Start starts the stage of a story without playing it, for tests with their own actions.
func (s Story) Start(t testing.TB) *Stage {
	t.Helper()
	return s.StartWith(t, func(*Config) {})
}

// StartWith is Start with a changed configuration.
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
		s.NoBox = s.NoBox || strings.TrimSpace(line) == "sandbox: none"
	}
	for _, name := range append(from, defaults) {
		other, err := txtar.ParseFile(filepath.Join(filepath.Dir(file), name))
		if err != nil {
			return Story{}, fmt.Errorf("story %s builds on %s: %w", s.Name, name, err)
		}
		s.inherit(other)
		// New rules of each archive come before those of later archives; overriding ones keep their places.
		names := make([]string, len(other.Files))
		for i, f := range other.Files {
			names[i] = f.Name
		}
		s.taken = append(slices.DeleteFunc(s.taken, func(n string) bool { return slices.Contains(names, n) }), names...)
	}
	s.addOwn(a)
	if s.parts["script"] == "" || s.parts["issue"] == "" {
		return Story{}, fmt.Errorf("story %s: it needs the sections script and issue", s.Name)
	}
	return s, nil
}

// inherit adds the sections that the story lacks from another archive.
func (s *Story) inherit(a *txtar.Archive) {
	for _, f := range a.Files {
		if _, ok := s.parts[f.Name]; !ok {
			s.parts[f.Name] = string(f.Data)
		}
	}
}

// addOwn adds the story's own sections.
func (s *Story) addOwn(a *txtar.Archive) {
	for _, f := range a.Files {
		s.parts[f.Name] = string(f.Data)
	}
}

// sectionsIn are the sections below a folder, by the rest of their name.
func (s *Story) sectionsIn(folder string) map[string]string {
	files := map[string]string{}
	for name, text := range s.parts {
		if rest, ok := strings.CutPrefix(name, folder+"/"); ok && strings.TrimSpace(text) != "(none)" {
			files[rest] = text
		}
	}
	return files
}

// config is the configuration of the story's stage.
func (s *Story) config(model scripted.Script) Config {
	c := Config{Files: s.sectionsIn("repo"), Model: model, Coders: s.Coders, NoSandbox: s.NoBox}
	if owner := s.sectionsIn("owner"); len(owner) > 0 {
		c.Owner = owner
	}
	return c
}

// model is the scripted model. A rule of the story replaces an inherited rule of the same name; its other rules come
// first.
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

// Play plays the story and compares its result with the archive's; with update, it writes the result there instead. No
// post may show more words than its [WordLimits].
func (s Story) Play(t *testing.T, update bool) {
	t.Helper()
	s.PlayWith(t, update, func(*Config) {})
}

// PlayWith is Play with a changed configuration.
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
	stage.checkWordLimits()
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

// Played is the stage after the story was played, for tests that continue from there.
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

// compare compares the golden sections. A story that is like another may have the same result with other decisions.
func (s Story) compare(t *testing.T, got []txtar.File, why string) {
	t.Helper()
	want := s.sectionsIn("want")
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
