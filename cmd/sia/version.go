package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/sia-bot/sia/cmd/internal/cli"
)

// version is set when a release is built.
var version = "dev"

type versionCmd struct {
	cli.Format `embed:""`
}

// Run prints version, commit and Go version.
func (c *versionCmd) Run(e *cli.Env) error {
	if c.Output == "json" {
		return e.JSONLine(map[string]string{"version": ownVersion(), "commit": builtFrom(), "go": runtime.Version()})
	}
	return e.Sayf("%s\n", versionLine())
}

// versionLine returns version, commit and Go version in one line.
func versionLine() string {
	return fmt.Sprintf("sia %s (commit %s, %s)", ownVersion(), builtFrom(), runtime.Version())
}

// ownVersion returns the version of this program.
func ownVersion() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(version, info)
}

// versionOf returns the version of a release, or that of the module that `go install` built.
func versionOf(release string, info *debug.BuildInfo) string {
	if release == "dev" && info != nil && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return release
}

// builtFrom returns the commit that the program was built from.
func builtFrom() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}

// helpCmd makes help appear in the list of commands. [cli.Program.Run] turns it into the flag --help before parsing.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command."`
}
