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

// Bounds of what a repository's workflow files may want.
const (
	most        = 8   // services
	maxFiles    = 100 // workflow files that are read
	maxWorkflow = 256 << 10
	maxValue    = 1000 // bytes of a variable
	shownName   = 100  // characters of a name or an image in what people read
)

const workflows = ".github/workflows"

// At is where a command sees the folders of services.
const At = sandbox.CacheDir + "/services"

// Set is what of a repository's services can be had here.
type Set struct {
	// Missing says what can't be had, and why, a sentence each. The names in it are a stranger's, cleaned.
	Missing []string

	has     []string // what there is, for an agent
	servers []sandbox.Server
}

// Find reads which services the workflow files of a work tree want, and looks for their programs where commands in the
// sandbox find them. A file that can't be read wants none. images are wanted besides, where no workflow names their
// kind.
func Find(box *sandbox.Sandbox, tree string, images []string) Set {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return Set{}
	}
	defer root.Close()
	var files []string
	var entries []os.DirEntry // those that can be read
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

// FindIn is Find for files that lie elsewhere: their slash-separated paths, in any order, and how to read one.
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

// settingsWant are the services of images that the settings name, but for those of a kind that a workflow names.
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

// programFolders are where the packages of distributions put programs that are not in PATH. All lie where a sandbox
// sees them.
var programFolders = []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*"}

// find decides what can be had. can says that a sandbox starts servers.
func find(wanted []gate.Service, path []string, can bool) (s Set) {
	var kept []candidate
	for _, w := range wanted {
		c, why := consider(w, append(slices.Clone(programFolders), path...), can)
		switch {
		case why != "":
			s.miss(why)
		case slices.ContainsFunc(kept, c.same):
		case len(kept) == most:
			s.miss(fmt.Sprintf("Services after the first %d are not started here: %s is one of them.", most, c.shown()))
		default:
			kept = append(kept, c)
		}
	}
	owners := map[int]string{}
	take := func(c *candidate, port int) {
		if len(c.ports) == 0 || owners[port] == "" {
			if owner := owners[port]; owner != "" {
				s.miss(fmt.Sprintf("%s is not started here: its port %d is that of %s.", c.shown(), port, owner))
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
	for i := range kept { // where a job in a container finds it, by its name
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

func (s *Set) miss(why string) {
	if !slices.Contains(s.Missing, why) && len(s.Missing) < 2*most {
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
	s.has = append(s.has, fmt.Sprintf("%s for the service %s (%s) at localhost:%s", c.kind.title, show(c.name),
		show(c.image), strings.Join(ports, " and localhost:")))
}

// candidate is a service with a program that is installed.
type candidate struct {
	name, image string
	kind        kind
	program     string
	mapped      []int // ports that the workflow maps
	env         []string
	ports       []int // that it gets
}

func (c candidate) shown() string {
	return fmt.Sprintf("the service %s (%s)", show(c.name), show(c.image))
}

// same reports whether another service would be the same server: of other jobs, mostly.
func (c candidate) same(o candidate) bool {
	return c.kind.title == o.kind.title && c.program == o.program && slices.Equal(c.mapped, o.mapped) &&
		slices.Equal(c.env, o.env) && c.name == o.name
}

// consider looks whether a service can be had. why says, as a sentence, that it can't.
func consider(w gate.Service, folders []string, can bool) (c candidate, why string) {
	k, name, tag, known := kindOf(w.Image)
	c = candidate{name: w.Name, image: w.Image, kind: k}
	if !known {
		return c, fmt.Sprintf("%s is not started here: SIA does not know this image. Tests that need it can't run here.",
			text.Capital(c.shown()))
	}
	if c.program = k.program(folders, tag); c.program == "" {
		return c, fmt.Sprintf("%s isn't installed where SIA runs: tests that need %s can't run here.", k.title, c.shown())
	}
	if !can {
		return c, fmt.Sprintf("%s is not started here: this sandbox starts no servers.", text.Capital(c.shown()))
	}
	extension := extensions[name]
	if extension.name != "" && !hasExtension(c.program, extension.name) {
		return c, fmt.Sprintf("PostgreSQL's extension %s isn't installed where SIA runs: tests that need %s can't run here.",
			extension.name, c.shown())
	}
	if c.mapped, why = hostPorts(w.Ports, k.port); why != "" {
		return c, fmt.Sprintf("%s is not started here: %s.", text.Capital(c.shown()), why)
	}
	for _, variable := range slices.Sorted(maps.Keys(w.Env)) { // what is said must not be chance: results are kept by it
		if why = unusable(w.Env[variable]); why != "" {
			return c, fmt.Sprintf("%s is not started here: its variable %s %s.", text.Capital(c.shown()), show(variable), why)
		}
	}
	c.env = append(k.env(func(names ...string) string {
		for _, n := range names {
			// The value of an expression, such as a secret, is not known here.
			if v := w.Env[n]; v != "" && !strings.Contains(v, "${{") {
				return v
			}
		}
		return ""
	}), extension.env...)
	if k.inFolder {
		c.program = filepath.Dir(c.program)
	}
	return c, ""
}

// unusable says why a value is given to no program; empty: it may be.
func unusable(value string) string {
	switch {
	case strings.IndexFunc(value, unicode.IsControl) >= 0:
		return "holds a line break or another control character"
	case len(value) > maxValue:
		return fmt.Sprintf("is longer than %d bytes", maxValue)
	}
	return ""
}

// hostPorts reads the ports at which a job's steps find a service: of 15432:5432, 127.0.0.1:15432:5432/tcp the first,
// and of 5432 itself. Of several, those count that lead to the port where the image listens.
func hostPorts(ports []string, usual int) (out []int, why string) {
	var others []int
	for _, p := range ports {
		p, protocol, _ := strings.Cut(p, "/")
		fields := strings.Split(p, ":")
		inner, err := strconv.Atoi(fields[len(fields)-1])
		if err != nil || protocol != "" && protocol != "tcp" {
			continue // a range, an expression, or not of TCP
		}
		outer := inner
		if len(fields) > 1 {
			if n, err := strconv.Atoi(fields[len(fields)-2]); err == nil {
				outer = n
			}
		}
		if why := sandbox.PortRefused(outer); why != "" {
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
	return out[:min(len(out), most)], ""
}

// hasExtension reports whether this host's PostgreSQL has an extension: beside /usr/lib/postgresql/16/bin it lies in
// /usr/share/postgresql/16/extension, beside /usr/pgsql-16/bin in /usr/pgsql-16/share/extension.
func hasExtension(program, name string) bool {
	prefix := filepath.Dir(filepath.Dir(program))
	for _, share := range []string{strings.Replace(prefix, "/lib/", "/share/", 1), filepath.Join(prefix, "share"),
		filepath.Join(prefix, "share", "postgresql")} {
		if _, err := os.Stat(filepath.Join(share, "extension", name+".control")); err == nil {
			return true
		}
	}
	return false
}

// Any reports whether there is a service to start.
func (s Set) Any() bool { return len(s.servers) > 0 }

// Join gives a command the services. Their data lies in dir, an empty folder of this host or one that an earlier
// command had, and stays there. Each starts when it is first connected to, or before the command where first says so.
func (s Set) Join(c *sandbox.Command, dir string, first bool) {
	if !s.Any() {
		return
	}
	c.Servers, c.ServersFirst = s.servers, first
	c.Mounts = append(c.Mounts, sandbox.Mount{From: dir, To: At, Writable: true})
}

// Told says to an agent which services there are; empty: none.
func (s Set) Told() string {
	if !s.Any() {
		return ""
	}
	return "Of the services that the workflows name, these run beside every command, with the user, password and " +
		"database that the workflow gives, in the version that this machine has: " + strings.Join(s.has, "; ") + "."
}

// Key tells a set from others in which tests may come out otherwise.
func (s Set) Key() string { return fmt.Sprintf("%v %q", s.servers, s.Missing) }

// show is a stranger's text for a line that people read.
func show(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == '`' {
			return -1
		}
		return r
	}, text.OneLine(s))
	return cmp.Or(text.Clip(s, shownName), "without a name")
}
