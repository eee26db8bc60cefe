package improve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia/improve"
	"github.com/sia-bot/sia/sia/technique"
)

// isDefinition reports whether a path is that of a repository's technique or policy.
func isDefinition(name string) bool {
	isTechnique := path.Dir(name) == technique.Dir && path.Ext(name) == ".md" && path.Base(name) != "README.md"
	return isTechnique || policies.IsFile(name)
}

// withShipped adds the techniques and policies that ship with SIA to a repository's own, at their usual paths, unless
// the repository has one of the same id or type.
func withShipped(own map[string][]byte) (map[string][]byte, error) {
	all := maps.Clone(own)
	library, _ := technique.LoadLibrary(own) // Definitions reports parse errors
	shipped := technique.ShippedFiles()
	for _, t := range library.All() {
		if !t.Shipped {
			continue
		}
		b, err := fs.ReadFile(shipped, "library/"+string(t.ID)+".md")
		if err != nil {
			return nil, fmt.Errorf("read technique %s: %w", t.ID, err)
		}
		all[technique.FilePath(t.ID)] = b
	}
	set := policies.ShippedSet()
	for _, p := range set.All() {
		at := path.Join(policies.Dir, string(p.Decision)+".yml")
		if _, taken := all[at]; !taken {
			all[at] = []byte(p.Source)
		}
	}
	return all, nil
}

// Definitions is the self-test of techniques and policies: it checks that SIA can read them.
type Definitions struct{ Files improve.Files }

// definitionsCommand is the displayed name of the self-test.
const definitionsCommand = "sia reads its techniques and policies"

// Test reads the changed file. Before any change it passes.
func (d Definitions) Test(_ context.Context, file string) (improve.TestRun, error) {
	run := improve.TestRun{Command: definitionsCommand, OK: true, Ending: "nothing was changed yet"}
	if file == "" {
		return run, nil
	}
	f, err := d.Files.Read(file)
	if err != nil {
		return run, err
	}
	run.Ending = "it is read"
	if wrong := readDefinition(file, []byte(f.Text)); wrong != nil {
		run.OK, run.Ending, run.Output = false, "it can't be read", wrong.Error()
	}
	return run, nil
}

// readDefinition reads a file as SIA does in a repository.
func readDefinition(name string, content []byte) error {
	if path.Dir(name) == policies.Dir {
		_, err := policies.Parse(name, content)
		return err
	}
	_, errs := technique.LoadLibrary(map[string][]byte{name: content})
	return errors.Join(errs...)
}

// WriteDefinitions writes definitions into a folder of SIA's own, replacing those of an earlier run, and returns their
// names in order.
func WriteDefinitions(root string, files map[string][]byte) (names []string, err error) {
	for _, dir := range []string{technique.Dir, policies.Dir} {
		if err := os.RemoveAll(filepath.Join(root, filepath.FromSlash(dir))); err != nil {
			return nil, fmt.Errorf("lay out techniques and policies: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !isDefinition(name) || strings.Contains(name, "..") {
			continue
		}
		if _, err := readText(strings.NewReader(string(files[name]))); err != nil {
			continue // not suitable for a model; its commit reports the parse error
		}
		if err := writeFile(filepath.Join(root, filepath.FromSlash(name)), files[name]); err != nil {
			return nil, fmt.Errorf("lay out %s: %w", name, err)
		}
		names = append(names, name)
	}
	return names, nil
}

// writeFile writes a file and creates its parent folders.
func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
