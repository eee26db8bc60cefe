// Command sbom prints the bill of materials of a Go program, as CycloneDX 1.6: the modules that its own
// build information names, with their versions and checksums, and the Go that built it. It reads nothing but the
// program, so that the bill is of what is shipped and not of what go.mod might have meant.
//
//	sbom dist/sia > sia.cdx.json
//
// https://cyclonedx.org/docs/1.6/json/
package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// run prints the bill of the program that args names.
func run(args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("give one program that Go built")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return fmt.Errorf("read the build information: %w", err)
	}
	b, err := json.MarshalIndent(billOf(info), "", "  ")
	if err != nil {
		return err
	}
	_, err = out.Write(append(b, '\n'))
	return err
}

// bill is a bill of materials. It has neither date nor number, so that a program always has the same.
type bill struct {
	Format   string `json:"bomFormat"`
	Spec     string `json:"specVersion"`
	Version  int    `json:"version"`
	Metadata struct {
		Component component `json:"component"`
	} `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type component struct {
	Type       string     `json:"type"` // application or library
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"` // https://github.com/package-url/purl-spec
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn,omitempty"`
}

// billOf is the bill of a program by its build information, in the order of names.
func billOf(info *buildinfo.BuildInfo) bill {
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1}
	program := componentOf("application", info.Main)
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED", "vcs.revision", "vcs.modified":
			program.Properties = append(program.Properties, property{"go:build:" + s.Key, s.Value})
		}
	}
	b.Metadata.Component = program
	b.Components = []component{componentOf("library", debug.Module{Path: "std",
		Version: strings.TrimPrefix(info.GoVersion, "go")})}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, componentOf("library", *m))
	}
	slices.SortFunc(b.Components, func(x, y component) int { return cmp.Compare(x.Ref, y.Ref) })
	all := dependency{Ref: program.Ref}
	for _, c := range b.Components {
		all.On = append(all.On, c.Ref)
	}
	b.Dependencies = []dependency{all}
	return b
}

// componentOf is a module. Its checksum is go.sum's, which is none of a file.
func componentOf(kind string, m debug.Module) component {
	purl := "pkg:golang/" + strings.ToLower(m.Path) + "@" + url.QueryEscape(m.Version)
	c := component{Type: kind, Ref: purl, Name: m.Path, Version: m.Version, PURL: purl}
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}
