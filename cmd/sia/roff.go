package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/sia-bot/sia/cmd/internal/cli"
)

// manPage returns the manual page of a command: the text of `--help` in the language of man(7). It has no date, so that
// a version always produces the same page.
func manPage(n *kong.Node) string {
	var b strings.Builder
	name := manName(n)
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s SIA\n", roffQuote(strings.ToUpper(name)), roffQuote("sia "+ownVersion()))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(strings.TrimSuffix(oneLineHelp(n), ".")))
	b.WriteString(".SH SYNOPSIS\n")
	for _, leaf := range leavesOf(n) {
		fmt.Fprintf(&b, ".br\n.B sia %s\n", roff(strings.TrimSpace(leaf.Summary())))
	}
	if len(n.Positional) > 0 {
		b.WriteString(".SH ARGUMENTS\n")
		for _, arg := range n.Positional {
			fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", roff(arg.Name), roff(arg.Help))
		}
	}
	if len(n.Children) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, leaf := range leavesOf(n) {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(leaf.Path()), roff(leaf.Help))
		}
	}
	b.WriteString(".SH OPTIONS\n")
	for _, f := range flagsOf(n) {
		manFlag(&b, f)
	}
	if examples := cli.Examples(n); len(examples) > 0 && n.Parent != nil {
		b.WriteString(".SH EXAMPLES\n")
		for _, example := range examples {
			fmt.Fprintf(&b, ".br\n%s\n", roff(example))
		}
	}
	fmt.Fprintf(&b, ".SH EXIT STATUS\n%d done, %d failed, %d wrong usage, %d stopped with Ctrl\\-C.\n",
		cli.ExitDone, cli.ExitFailed, cli.ExitUsage, cli.ExitStopped)
	b.WriteString(".SH SEE ALSO\n")
	if n.Parent != nil {
		b.WriteString(".BR sia (1),\n")
	}
	b.WriteString("https://github.com/sia\\-bot/sia\n")
	return b.String()
}

// manFlag writes the description of a flag, its possible values, and its environment variables.
func manFlag(b *strings.Builder, f *kong.Flag) {
	b.WriteString(".TP\n\\fB")
	if f.Short != 0 {
		b.WriteString(roff("-"+string(f.Short)) + "\\fR, \\fB")
	}
	b.WriteString(roff("--"+f.Name) + "\\fR")
	if !f.IsBool() && !f.IsCounter() {
		b.WriteString("=\\fI" + roff(strings.Trim(f.FormatPlaceHolder(), `"`)) + "\\fR")
	}
	b.WriteString("\n" + roff(f.Help) + "\n")
	if f.Enum != "" {
		given := slices.DeleteFunc(f.EnumSlice(), func(s string) bool { return s == "" }) // "": the flag is left out
		fmt.Fprintf(b, "One of %s.\n", roff(strings.Join(given, ", ")))
	}
	if len(f.Envs) > 0 {
		fmt.Fprintf(b, "In the environment: \\fB%s\\fR.\n", roff(strings.Join(f.Envs, ", ")))
	}
}

// manName returns the name of a command's page: sia, or sia-task-list.
func manName(n *kong.Node) string {
	if n.Parent == nil {
		return "sia"
	}
	return "sia-" + strings.Join(commandWords(n), "-")
}

// commandWords returns the words that name a command, without the program's.
func commandWords(n *kong.Node) (words []string) {
	for ; n.Parent != nil; n = n.Parent {
		words = append([]string{n.Name}, words...)
	}
	return words
}

// oneLineHelp returns the help of a command in one line.
func oneLineHelp(n *kong.Node) string { return strings.Join(strings.Fields(n.Help), " ") }

// leavesOf returns the commands below one that can be run, or the command itself.
func leavesOf(n *kong.Node) []*kong.Node {
	if n.Leaf() {
		return []*kong.Node{n}
	}
	return n.Leaves(true)
}

// roff escapes text so that man shows it literally.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(strings.Join(strings.Fields(s), " "))
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") { // otherwise it would be a request
		s = `\&` + s
	}
	return s
}

// roffQuote returns s as one argument of a request.
func roffQuote(s string) string { return `"` + strings.ReplaceAll(roff(s), `"`, `\(dq`) + `"` }
