package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// A command that is parsed alone, in a tenth of the time, has the same flags and arguments as among all.
func TestOneCommandIsReadAsAmongAll(t *testing.T) {
	var c commandLine
	all, err := newParser(&c, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	alone := 0
	for _, want := range all.Model.Children {
		one, err := program(&c).ForArgs([]string{want.Name}).Parser(io.Discard, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if len(one.Model.Children) > 1 {
			continue
		}
		alone++
		if diff := cmp.Diff(described(all.Model.Node, want), described(one.Model.Node, one.Model.Children[0])); diff != "" {
			t.Errorf("sia %s (-among all +alone):\n%s", want.Name, diff)
		}
	}
	if alone < 20 {
		t.Errorf("%d commands are read alone, want most", alone)
	}
}

// Every command that takes a server's file accepts one that sets flags of other commands, and refuses keys that are no
// flag. Reading does not differ between commands, and parsing all flags for each takes long.
func TestEveryCommandReadsAServersFile(t *testing.T) {
	for _, command := range []string{"serve", "run", "policies"} {
		one, err := program(&commandLine{}).ForArgs([]string{command}).Parser(io.Discard, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		for file, want := range map[string]string{
			"listen: :8081\nmodel: x\nattempts: 3\nmodels: {}\n": "<nil>",
			"\ufefflisten: :8081\r\nmodel: x\r\n":                "<nil>",
			"listne: :8081\n": "configuration file: there is no setting \"listne\"; the settings are the flags that " +
				"`sia serve --help` lists, models, roles and coders",
		} {
			settings, err := yamlFile(strings.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(settings.Validate(one.Model)); got != want {
				t.Errorf("sia %s: %q: %s, want %s", command, file, got, want)
			}
		}
	}
}

// described returns the arguments and flags of a command and its subcommands.
func described(top, n *kong.Node) (all []string) {
	for _, f := range top.Flags {
		all = append(all, describedValue(f.Value))
	}
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		all = append(all, fmt.Sprint(n.FullPath(), n.Help, n.Aliases, n.Hidden, n.Group))
		for _, f := range n.Flags {
			all = append(all, describedValue(f.Value)+
				fmt.Sprint(f.Short, f.PlaceHolder, f.Group, f.Hidden, f.Negated))
		}
		for _, p := range n.Positional {
			all = append(all, describedValue(p))
		}
		for _, below := range n.Children {
			walk(below)
		}
	}
	walk(n)
	return all
}

func describedValue(v *kong.Value) string {
	return fmt.Sprint(v.Name, v.Help, v.Default, v.HasDefault, v.Enum, v.Required, v.Passthrough, v.Tag.Envs,
		v.Target.Type())
}

// A program built by `go install` has its module's version; a release has its own.
func TestVersionOf(t *testing.T) {
	built := func(version string) *debug.BuildInfo { return &debug.BuildInfo{Main: debug.Module{Version: version}} }
	for _, c := range []struct {
		release string
		info    *debug.BuildInfo
		want    string
	}{
		{"dev", built("v1.2.3"), "v1.2.3"}, {"dev", built("(devel)"), "dev"}, {"dev", built(""), "dev"}, {"dev", nil, "dev"},
		{"v1.2.4", built("v1.2.3"), "v1.2.4"},
	} {
		if got := versionOf(c.release, c.info); got != c.want {
			t.Errorf("%s of %+v: %s, want %s", c.release, c.info, got, c.want)
		}
	}
}
