package service

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/text"
)

// Limits of the services in a repository's workflow files.
const (
	maxServices  = 8   // services
	maxFiles     = 100 // workflow files that are read
	maxWorkflow  = 256 << 10
	maxValue     = 1000 // bytes of a variable
	maxShownName = 100  // shown characters of a name or an image
)

const workflows = ".github/workflows"

// At is the parent of the services' folders in the sandbox.
const At = sandbox.CacheDir + "/services"

// Set holds the services of a repository that are available here.
type Set struct {
	// Missing describes the unavailable services and why, one sentence each. Untrusted names in it are cleaned.
	Missing []string

	has     []string // available services, in words for an agent
	servers []sandbox.Server
}

// Find reads the services in the workflow files of a work tree, and looks up their programs for commands in the
// sandbox. It skips unreadable files. images are services in addition, unless a workflow has one of their kind.
func Find(box *sandbox.Sandbox, tree string, images []string) Set {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return Set{}
	}
	defer root.Close()
	var files []string
	var entries []os.DirEntry // readable ones
	if dir, err := root.Open(workflows); err == nil {
		entries, _ = dir.ReadDir(-1)
		dir.Close()
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			files = append(files, path.Join(workflows, e.Name()))
		}
	}
	return FindIn(box, files, func(name string) ([]byte, error) {
		f, err := root.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, maxWorkflow+1))
	}, images)
}

// FindIn is Find for files in another place: their slash-separated paths, in any order, and a function to read them.
func FindIn(
	box *sandbox.Sandbox, files []string, read func(name string) ([]byte, error), images []string,
) Set {
	files = slices.DeleteFunc(slices.Clone(files), func(p string) bool {
		return path.Dir(p) != workflows || path.Ext(p) != ".yml" && path.Ext(p) != ".yaml"
	})
	slices.Sort(files)
	var wanted []gate.Service
	for _, f := range files[:min(len(files), maxFiles)] {
		if text, err := read(f); err == nil {
			wanted = append(wanted, gate.Services(text)...)
		}
	}
	return find(append(wanted, settingsWant(images, wanted)...), filepath.SplitList(box.Path()), box.CanFetch())
}

// settingsWant returns the services for the images in the settings, except those of a kind in a workflow.
func settingsWant(images []string, wanted []gate.Service) (out []gate.Service) {
	for _, image := range images {
		k, name, _, known := kindOf(image)
		if !known || !slices.ContainsFunc(wanted, func(w gate.Service) bool {
			other, _, _, known := kindOf(w.Image)
			return known && other.title == k.title
		}) {
			out = append(out, gate.Service{Name: name, Image: image})
		}
	}
	return out
}

// programFolders are folders in which distributions install programs outside of PATH. All are visible in the sandbox.
var programFolders = []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*"}

// find determines the available services. can reports whether the sandbox can start servers.
func find(wanted []gate.Service, path []string, canStart bool) (s Set) {
	var kept []candidate
	for _, w := range wanted {
		c, why := evaluate(w, append(slices.Clone(programFolders), path...), canStart)
		switch {
		case why != "":
			s.addMissing(why)
		case slices.ContainsFunc(kept, c.same):
		case len(kept) == maxServices:
			s.addMissing(fmt.Sprintf("Services after the first %d are not started here: %s is one of them.", maxServices,
				c.shown()))
		default:
			kept = append(kept, c)
		}
	}
	owners := map[int]string{}
	take := func(c *candidate, port int) {
		if len(c.ports) == 0 || owners[port] == "" {
			if owner := owners[port]; owner != "" {
				s.addMissing(fmt.Sprintf("%s is not started here: its port %d is that of %s.", c.shown(), port, owner))
				return
			}
			owners[port], c.ports = c.shown(), append(c.ports, port)
		}
	}
	for i := range kept {
		for _, port := range kept[i].mapped {
			take(&kept[i], port)
		}
	}
	for i := range kept { // port for jobs in a container, which use the service's name
		c := &kept[i]
		if len(c.ports) > 0 && owners[c.kind.port] == "" || len(c.mapped) == 0 {
			take(c, c.kind.port)
		}
	}
	for i, c := range kept {
		if len(c.ports) > 0 {
			s.add(i, c)
		}
	}
	return s
}

func (s *Set) addMissing(why string) {
	if !slices.Contains(s.Missing, why) && len(s.Missing) < 2*maxServices {
		s.Missing = append(s.Missing, why)
	}
}

func (s *Set) add(i int, c candidate) {
	dir := fmt.Sprintf("%s/%d", At, i)
	env := append([]string{"DIR=" + dir, "BIN=" + c.program}, c.env...)
	s.servers = append(s.servers, sandbox.Server{Name: c.name, Ports: c.ports, Script: c.kind.script, Env: env,
		Socket: dir + "/" + c.kind.socket, Log: dir + "/log"})
	var ports []string
	for _, p := range c.ports {
		ports = append(ports, strconv.Itoa(p))
	}
	s.has = append(s.has, fmt.Sprintf("%s for the service %s (%s) at localhost:%s", c.kind.title, cleanName(c.name),
		cleanName(c.image), strings.Join(ports, " and localhost:")))
}

// candidate is a service with an installed program.
type candidate struct {
	name, image string
	kind        kind
	program     string
	mapped      []int // host ports in the workflow
	env         []string
	ports       []int // assigned ports
}

func (c candidate) shown() string {
	return fmt.Sprintf("the service %s (%s)", cleanName(c.name), cleanName(c.image))
}

// same reports whether another service, usually of another job, would be the same server.
func (c candidate) same(o candidate) bool {
	return c.kind.title == o.kind.title && c.program == o.program && slices.Equal(c.mapped, o.mapped) &&
		slices.Equal(c.env, o.env) && c.name == o.name
}

// evaluate checks whether a service is available. why is a sentence with the reason if it is not.
func evaluate(w gate.Service, folders []string, canStart bool) (c candidate, why string) {
	k, name, tag, known := kindOf(w.Image)
	c = candidate{name: w.Name, image: w.Image, kind: k}
	if !known {
		return c, fmt.Sprintf("%s is not started here: SIA does not know this image. Tests that need it can't run here.",
			text.Capital(c.shown()))
	}
	if c.program = k.program(folders, tag); c.program == "" {
		return c, fmt.Sprintf("%s isn't installed where SIA runs: tests that need %s can't run here.", k.title, c.shown())
	}
	if !canStart {
		return c, fmt.Sprintf("%s is not started here: this sandbox starts no servers.", text.Capital(c.shown()))
	}
	extension := extensions[name]
	if extension != "" && !hasExtension(c.program, extension) {
		return c, fmt.Sprintf("PostgreSQL's extension %s isn't installed where SIA runs: tests that need %s can't run "+
			"here.", extension, c.shown())
	}
	if c.mapped, why = hostPorts(w.Ports, k.port); why != "" {
		return c, fmt.Sprintf("%s is not started here: %s.", text.Capital(c.shown()), why)
	}
	for _, variable := range slices.Sorted(maps.Keys(w.Env)) { // sorted, since the messages are part of a cache key
		if why = unusable(w.Env[variable]); why != "" {
			return c, fmt.Sprintf("%s is not started here: its variable %s %s.", text.Capital(c.shown()), cleanName(variable),
				why)
		}
	}
	c.env = k.env(func(names ...string) string {
		for _, n := range names {
			// The value of an expression, such as a secret, is unknown here.
			if v := w.Env[n]; v != "" && !strings.Contains(v, "${{") {
				return v
			}
		}
		return ""
	})
	if extension == "postgis" { // which its image creates in the database
		c.env = append(c.env, "EXTENSION="+extension)
	}
	if k.inFolder {
		c.program = filepath.Dir(c.program)
	}
	return c, ""
}

// unusable returns why a value can't be passed to a program; empty: it can.
func unusable(value string) string {
	switch {
	case strings.IndexFunc(value, unicode.IsControl) >= 0:
		return "holds a line break or another control character"
	case len(value) > maxValue:
		return fmt.Sprintf("is longer than %d bytes", maxValue)
	}
	return ""
}

// hostPorts returns the ports by which a job's steps reach a service: 15432 for 15432:5432 or 127.0.0.1:15432:5432/tcp,
// and 5432 for 5432. If any are mapped to the image's usual port, it returns only those.
func hostPorts(ports []string, usual int) (out []int, why string) {
	var others []int
	for _, p := range ports {
		p, protocol, _ := strings.Cut(p, "/")
		fields := strings.Split(p, ":")
		inner, err := strconv.Atoi(fields[len(fields)-1])
		if err != nil || protocol != "" && protocol != "tcp" {
			continue // a range, an expression, or not TCP
		}
		outer := inner
		if len(fields) > 1 {
			if n, err := strconv.Atoi(fields[len(fields)-2]); err == nil {
				outer = n
			}
		}
		if why := sandbox.PortProblem(outer); why != "" {
			return nil, fmt.Sprintf("port %d can't be had%s", outer, why)
		}
		if inner == usual {
			out = append(out, outer)
		} else {
			others = append(others, outer)
		}
	}
	if len(out) == 0 {
		out = others
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxServices)], ""
}

// Any reports whether there is a service to start.
func (s Set) Any() bool { return len(s.servers) > 0 }

// Join adds the services to a command. Their data is in dir, an empty folder of this host or one of an earlier command,
// and is kept. Each service starts at its first connection, or before the command if first is set.
func (s Set) Join(c *sandbox.Command, dir string, first bool) {
	if !s.Any() {
		return
	}
	c.Servers, c.ServersFirst = s.servers, first
	c.Mounts = append(c.Mounts, sandbox.Mount{From: dir, To: At, Writable: true})
}

// Told returns a description of the available services for an agent; empty: none.
func (s Set) Told() string {
	if !s.Any() {
		return ""
	}
	return "Of the services that the workflows name, these run beside every command, with the user, password and " +
		"database that the workflow gives, in the version that this machine has: " + strings.Join(s.has, "; ") + "."
}

// Key returns a key that differs if tests may have different results.
func (s Set) Key() string { return fmt.Sprintf("%v %q", s.servers, s.Missing) }

// cleanName cleans untrusted text for a line that users read.
func cleanName(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == '`' {
			return -1
		}
		return r
	}, text.OneLine(s))
	return cmp.Or(text.Clip(s, maxShownName), "without a name")
}
