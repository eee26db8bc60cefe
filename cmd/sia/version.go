package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set when a release is built.
var version = "dev"

type versionCmd struct {
	Output string `help:"text or json." enum:"text,json" default:"text"`
}

// Run prints version, commit and Go version.
func (c *versionCmd) Run(e *commandEnv) error {
	commit := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	if c.Output == "json" {
		return json.NewEncoder(e.out).Encode(map[string]string{"version": version, "commit": commit, "go": runtime.Version()})
	}
	_, err := fmt.Fprintf(e.out, "sia %s (commit %s, %s)\n", version, commit, runtime.Version())
	return err
}
