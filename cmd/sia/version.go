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

// versionLine is the version for people.
func versionLine() string {
	return fmt.Sprintf("sia %s (commit %s, %s)", ownVersion(), builtFrom(), runtime.Version())
}

// ownVersion is the version of this program.
func ownVersion() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(version, info)
}

// versionOf is a release's version, or that of the module which `go install` built.
func versionOf(release string, info *debug.BuildInfo) string {
	if release == "dev" && info != nil && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return release
}

// builtFrom is the commit that the program was built from.
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

// helpCmd is listed among the commands; [runCommand] turns it into the flag --help before it is
// parsed.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command."`
}
