package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/sia-bot/sia/app/atomicfile"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/cmd/internal/localgit"
	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sia/project"
)

type configInitCmd struct {
	Dir        string `help:"The top folder of the repository." default:"." type:"path"`
	Write      bool   `help:"Write the file, unless one is there already; default: only print it."`
	cli.Format `embed:""`
}

// initialConfig is the JSON of sia config init.
type initialConfig struct {
	File      string             `json:"file"`    // relative to the folder
	Written   bool               `json:"written"` // false: it was only printed
	Content   string             `json:"content"`
	Languages []project.Language `json:"languages"`
	Setup     []project.Command  `json:"setup"`
	Test      *project.Command   `json:"test"`        // null: none was found
	Others    []project.Command  `json:"other_tests"` // only mentioned in the file
	Hosts     []string           `json:"setup_hosts"` // hosts that a server has to allow for setup
}

// Run proposes settings for the repository in a folder.
func (c *configInitCmd) Run(e *cli.Env) error {
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return fmt.Errorf("look at %s: %w", c.Dir, err)
	}
	defer root.Close()
	found, err := lookAtFolder(e.Ctx, root)
	if err != nil {
		return err
	}
	file, differs := config.Proposal{Project: found, Allowed: func(string) bool { return true }}.File()
	if c.Write {
		if !differs {
			return errors.New("nothing was found that needs a setting, so nothing was written; " +
				"without a file the defaults hold (sia config explain)")
		}
		if err := writeNew(root, config.Path, file); err != nil {
			return err
		}
	}
	if c.Output == "json" {
		return e.JSON(initial(found, file, c.Write))
	}
	if hosts := found.Hosts(); len(hosts) > 0 {
		fmt.Fprintf(e.Err, "Setup fetches packages; the server has to allow that: sia serve --setup-hosts %s\n",
			strings.Join(hosts, ","))
	}
	if c.Write {
		return e.Sayf("Wrote %s. Read it, commit it, and push it to the default branch.\n", config.Path)
	}
	_, err = e.Out.Write(file)
	return err
}

// lookAtFolder returns the kind of project in a folder. It skips links that lead out of the folder, and anything but
// folders and regular files.
func lookAtFolder(ctx context.Context, root *os.Root) (project.Project, error) {
	if _, err := fs.ReadDir(root.FS(), "."); err != nil {
		return project.Project{}, fmt.Errorf("list %s: %w", root.Name(), err)
	}
	return project.Look(func(dir string) (names []string) {
		entries, _ := fs.ReadDir(root.FS(), dir)
		for _, entry := range entries {
			st, err := root.Stat(path.Join(dir, entry.Name()))
			switch {
			case err != nil: // such as a link that leads out
			case st.IsDir():
				names = append(names, entry.Name()+"/")
			case st.Mode().IsRegular():
				names = append(names, entry.Name())
			}
		}
		if dir == "." {
			// there may be no repository
			modules, _ := localgit.At(root.Name()).Run(ctx, "ls-files", "-z", "--", "*/go.mod")
			names = append(names, strings.FieldsFunc(string(modules), func(c rune) bool { return c == 0 })...)
		}
		return names
	}, func(name string) ([]byte, bool) {
		st, err := root.Stat(name)
		if err != nil || !st.Mode().IsRegular() || st.Size() > project.MaxFile {
			return nil, false
		}
		b, err := root.ReadFile(name)
		return b, err == nil
	}), nil
}

// writeNew writes a new file atomically and creates its folder. It fails if the name exists.
func writeNew(root *os.Root, name string, content []byte) error {
	const doing = "write " + config.Path
	if _, err := root.Lstat(name); err == nil {
		return fmt.Errorf("%s: it is there already, and is left as it is; compare it with what sia config init prints", doing)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return atomicfile.CreateIn(root, name, content, 0o644)
}

// initial returns the project that was found, as JSON.
func initial(p project.Project, file []byte, written bool) initialConfig {
	out := initialConfig{File: config.Path, Written: written, Content: string(file), Languages: nonNil(p.Languages),
		Setup: nonNil(p.Setup), Others: nonNil(p.Others), Hosts: nonNil(p.Hosts())}
	if p.Test.Line != "" {
		out.Test = &p.Test
	}
	return out
}
