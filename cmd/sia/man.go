package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/sia-bot/sia/app/atomicfile"
	"github.com/sia-bot/sia/cmd/internal/cli"
)

// manCmd prints or writes manual pages, with the same texts as --help.
type manCmd struct {
	Command []string `arg:"" optional:"" help:"The command, such as task list; without any, sia itself."`
	Folder  string   `help:"Instead of printing a page, write those of all commands here, such as ~/.local/share/man/man1." type:"path" placeholder:"FOLDER"`
	Output  string   `help:"text or json; pages are the text of man in any case." enum:"text,json" default:"text"`
}

// writtenPage is a manual page, as JSON.
type writtenPage struct {
	Name string `json:"name"`           // such as sia-task-list.1
	Page string `json:"page,omitempty"` // if it was not written to a file
	File string `json:"file,omitempty"`
}

// Run prints the page of one command, or writes the pages of all.
func (c *manCmd) Run(e *cli.Env, parser *kong.Kong) error {
	if c.Folder != "" {
		return c.writeAll(e, parser.Model.Node)
	}
	n := parser.Model.Node
	for i, word := range c.Command {
		next := slices.IndexFunc(n.Children, func(child *kong.Node) bool { return !child.Hidden && child.Name == word })
		if next < 0 {
			return cli.Usage("there is no command %q; `sia --help` lists them", strings.Join(c.Command[:i+1], " "))
		}
		n = n.Children[next]
	}
	if c.Output == "json" {
		return e.JSON(writtenPage{Name: manName(n) + ".1", Page: manPage(n)})
	}
	_, err := io.WriteString(e.Out, manPage(n))
	return err
}

// writeAll writes a page for the program and for each of its commands.
func (c *manCmd) writeAll(e *cli.Env, root *kong.Node) error {
	if len(c.Command) > 0 {
		return cli.Usage("--folder takes the pages of all commands; leave the command out")
	}
	if err := os.MkdirAll(c.Folder, 0o755); err != nil { //nolint:gosec // manual pages are for everybody
		return err
	}
	var all []writtenPage
	for _, n := range visibleNodes(root) {
		page := writtenPage{Name: manName(n) + ".1", File: filepath.Join(c.Folder, manName(n)+".1")}
		if err := atomicfile.Replace(page.File, []byte(manPage(n)), 0o644); err != nil {
			return err
		}
		all = append(all, page)
	}
	if c.Output == "json" {
		return e.JSON(all)
	}
	return e.Sayf("%d pages are in %s\n", len(all), c.Folder)
}

// visibleNodes returns a command and the visible commands below it.
func visibleNodes(n *kong.Node) []*kong.Node {
	all := []*kong.Node{n}
	for _, child := range n.Children {
		if !child.Hidden {
			all = append(all, visibleNodes(child)...)
		}
	}
	return all
}
