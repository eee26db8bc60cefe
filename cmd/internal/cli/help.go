package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// FoldedGroup is the prefix of the group of flags that many commands take and one command explains. The name of that
// command follows: `group:"folded:serve"`. The help of other commands names it instead of listing the flags.
const FoldedGroup = "folded:"

// globalFlags is the group of the flags that every command has. It is listed after a command's own flags.
var globalFlags = kong.Group{Key: "everywhere", Title: "Flags of every command:"}

// printHelp prints help. A command's own flags come first; folded flags are replaced by the name of the command that
// explains them. It modifies the model, since the program ends afterwards.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	selected := ctx.Selected()
	if selected == nil {
		return kong.DefaultHelpPrinter(options, ctx)
	}
	for _, child := range selected.Children {
		child.Group = nil // the groups are those of the whole list
	}
	slices.SortStableFunc(selected.Flags, func(a, b *kong.Flag) int { return cmp.Compare(rank(a), rank(b)) })
	explained := map[string]bool{}
	for n := selected; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			switch by, folded := foldedBy(f); {
			case n.Parent == nil:
				f.Group = &globalFlags
			case folded && by == selected.Path():
				f.Group = nil
			case folded:
				f.Hidden, explained[by] = true, true
			}
		}
	}
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	for _, by := range slices.Sorted(maps.Keys(explained)) {
		_, err := fmt.Fprintf(ctx.Stdout, "\nServer settings are flags too: `%s %s --help` lists them.\n", ctx.Model.Name, by)
		if err != nil {
			return err
		}
	}
	switch examples := Examples(selected); len(examples) {
	case 0:
		return nil
	case 1:
		_, err := fmt.Fprintf(ctx.Stdout, "\nExample:\n  %s\n", examples[0])
		return err
	default:
		_, err := fmt.Fprintf(ctx.Stdout, "\nExamples:\n  %s\n", strings.Join(examples, "\n  "))
		return err
	}
}

// Examples returns command lines that show how a command is used: the tag example of its field, or the examples of its
// subcommands.
func Examples(n *kong.Node) (all []string) {
	if n.Leaf() {
		if n.Tag == nil || !n.Tag.Has("example") {
			return nil
		}
		return n.Tag.GetAll("example")
	}
	for _, child := range n.Children {
		if !child.Hidden {
			all = append(all, Examples(child)...)
		}
	}
	return all
}

// rank orders the flags of a command: flags that many commands share, marked `last:""`, come after its own.
func rank(f *kong.Flag) int {
	if f.Tag.Has("last") {
		return 1
	}
	return 0
}

// foldedBy returns the command that explains a folded flag.
func foldedBy(f *kong.Flag) (string, bool) {
	if f.Group == nil {
		return "", false
	}
	return strings.CutPrefix(f.Group.Key, FoldedGroup)
}
