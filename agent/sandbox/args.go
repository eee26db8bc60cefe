package sandbox

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The user of a command inside the sandbox, without any privileges.
const (
	sandboxUID  = 1000
	sandboxUser = "user"
)

// hostUID is the user of commands on this host if SIA runs as root. No distribution assigns this ID, so no other
// process uses it.
const hostUID = 65533

// systemPath is the part of PATH after the folders of toolchains.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// systemFiles of this host are mounted read-only if they exist. Programs need them to start, and they contain nothing
// specific to this machine.
var systemFiles = []string{
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime", "/etc/services",
	"/etc/protocols",
	"/etc/mime.types", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/tls/certs",
	"/etc/pki/ca-trust/extracted",
	"/etc/java*", "/etc/python3*",
	"/etc/maven/*.conf", "/etc/maven/logging", // its settings may contain passwords
}

const hostsFile = "/etc/hosts"

// replacedFiles replace files of the host.
var replacedFiles = []struct{ path, text string }{
	{"/etc/passwd", "root:x:0:0:root:/:/bin/false\nuser:x:1000:1000:user:" + HomeDir + ":/bin/sh\n"},
	{"/etc/group", "root:x:0:\nuser:x:1000:\n"},
	{hostsFile, "127.0.0.1 localhost sandbox\n::1 localhost\n"},
	{"/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"},
	{"/etc/resolv.conf", ""},
	{"/etc/gitconfig", "[safe]\n\tdirectory = *\n[user]\n\tname = user\n\temail = user@sandbox.invalid\n"},
}

// bwrapPlan holds the arguments and files of bubblewrap for a command.
type bwrapPlan struct {
	args  []string // of the bubblewrap that creates the sandbox
	outer []string // command line before it, if this process is root
	files [][]byte // files that bubblewrap reads from descriptors, in this order
}

// Descriptors of the started process; those of plan.files follow.
const (
	fdStatus = 3 + iota // bubblewrap writes the process ID and the exit status to it
	fdBlock             // bubblewrap waits until this is readable
	fdReady             // the gate writes to it when the sandbox is set up
	fdGo                // each gate opens when it reads a line from it
	fdArgs              // arguments of bubblewrap, so that they don't appear in process lists
	fdFiles
)

func (p *bwrapPlan) add(args ...string) { p.args = append(p.args, args...) }

// file adds a file for bubblewrap and returns its descriptor.
func (p *bwrapPlan) file(content []byte) string {
	p.files = append(p.files, content)
	return strconv.Itoa(fdFiles + len(p.files) - 1)
}

// plan returns the bubblewrap plan for c.
func (s *Sandbox) plan(c Command, l Limits) (*bwrapPlan, error) {
	p := &bwrapPlan{}
	p.add("--unshare-all", "--unshare-user", "--disable-userns", "--uid", strconv.Itoa(sandboxUID), "--gid",
		strconv.Itoa(sandboxUID),
		"--hostname", "sandbox", "--die-with-parent", "--new-session")
	p.system(c)
	if s.capability.Kind == KindFull {
		p.add("--proc", "/proc")
	} else {
		p.add("--dir", "/proc")
	}
	temp := strconv.FormatInt(l.Temp, 10)
	p.add("--dev", "/dev", "--perms", "1777", "--size", temp, "--tmpfs", "/dev/shm", "--remount-ro", "/dev",
		"--perms", "1777", "--size", temp, "--tmpfs", "/tmp", "--symlink", "../tmp", "/var/tmp",
		"--size", temp, "--tmpfs", HomeDir,
		"--ro-bind-data", p.file([]byte(mavenSettings(c))), HomeDir+"/.m2/settings.xml")

	reach := &pathRelocation{on: s.root}
	p.add("--bind", reach.at(c.Dir), WorkDir)
	for _, name := range append([]string{".git"}, c.ReadOnly...) {
		if from := filepath.Join(c.Dir, filepath.FromSlash(name)); isMountable(from) {
			p.add("--ro-bind", reach.at(from), path.Join(WorkDir, name))
		}
	}
	if store, _ := systemProfile(); store != "" {
		p.add("--ro-bind", reach.at(store), store)
	}
	for _, t := range s.capability.toolchains {
		for _, dir := range t.Dirs {
			p.add("--ro-bind", reach.at(dir), dir)
		}
	}
	for _, m := range c.Mounts {
		to := mountPoint(m)
		if clean := path.Clean(to); clean == "/" || clean == WorkDir || strings.HasPrefix(clean, WorkDir+"/") {
			return nil, fmt.Errorf("nothing can be mounted at %s", to)
		}
		if m.Writable {
			p.add("--bind", reach.at(m.From), to)
		} else {
			p.add("--ro-bind", reach.at(m.From), to)
		}
	}
	env := s.environment(c)
	if len(c.Hosts) > 0 {
		if own, all := s.authorities(); own != nil {
			p.add("--ro-bind-data", p.file(own), ownAuthoritiesFile, "--ro-bind-data", p.file(all), authoritiesFile)
			env = append(env, nodeVariable+"="+ownAuthoritiesFile)
			for _, name := range authorityVariables {
				env = append(env, name+"="+authoritiesFile)
			}
		}
	}
	p.add("--remount-ro", "/", "--chdir", WorkDir, "--clearenv")
	for _, e := range append(env, c.Env...) {
		name, value, _ := strings.Cut(e, "=")
		p.add("--setenv", name, value)
	}
	filter, err := seccompFilter()
	if err != nil {
		return nil, err
	}
	p.add("--seccomp", p.file(filter), "--json-status-fd", strconv.Itoa(fdStatus), "--block-fd", strconv.Itoa(fdBlock))
	p.outer = reach.command(s.options)
	return p, nil
}

// system mounts the system read-only. Files that reveal the host's users and network are replaced by replacedFiles.
func (p *bwrapPlan) system(c Command) {
	p.add("--ro-bind", "/usr", "/usr")
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		st, err := os.Lstat(dir)
		if err != nil {
			continue
		}
		if to, err := os.Readlink(dir); err == nil && st.Mode()&fs.ModeSymlink != 0 {
			p.add("--symlink", to, dir)
		} else {
			p.add("--ro-bind", dir, dir)
		}
	}
	for _, pattern := range systemFiles {
		found, _ := filepath.Glob(pattern) // the patterns are valid
		for _, f := range found {
			if _, err := os.Stat(f); err == nil {
				p.add("--ro-bind", f, f)
			}
		}
	}
	for _, f := range replacedFiles {
		if f.path == hostsFile {
			f.text += serverHosts(c.Servers)
		}
		p.add("--ro-bind-data", p.file([]byte(f.text)), f.path)
	}
}

// mavenSettings returns the proxy settings for Maven: a JVM does not read the environment variables for them.
// https://maven.apache.org/guides/mini/guide-proxies.html
func mavenSettings(c Command) string {
	if len(c.Hosts) == 0 {
		return "<settings><offline>true</offline></settings>\n"
	}
	return "<settings><proxies><proxy><protocol>http</protocol><host>" + proxyHost + "</host><port>" + proxyPort +
		"</port><nonProxyHosts>localhost|127.*|[::1]</nonProxyHosts></proxy></proxies></settings>\n"
}

// downloads are the hosts of programs that packages for Node download when they are installed, with the variables that
// make them leave that out. Otherwise installation as a whole fails if the host is not allowed.
// https://pptr.dev/guides/configuration
// https://docs.cypress.io/app/references/advanced-installation
// https://www.electronjs.org/docs/latest/tutorial/installation
var downloads = []struct{ host, skip string }{
	{"storage.googleapis.com", "PUPPETEER_SKIP_DOWNLOAD=true"},
	{"download.cypress.io", "CYPRESS_INSTALL_BINARY=0"},
	{"github.com", "ELECTRON_SKIP_BINARY_DOWNLOAD=1"},
}

// environment returns the environment of a command, without its own variables. It contains none of this process.
func (s *Sandbox) environment(c Command) []string {
	env := []string{
		"HOME=" + HomeDir, "USER=" + sandboxUser, "LOGNAME=" + sandboxUser, "SHELL=" + s.shell[0],
		"LANG=C.UTF-8", "TERM=dumb", "TMPDIR=/tmp", "CI=true",
	}
	for _, t := range s.capability.toolchains {
		env = append(env, t.Env...)
	}
	env = append(env, "PATH="+s.Path())
	for _, d := range downloads {
		if !AllowedHosts(c.Hosts).Allows(d.host) {
			env = append(env, d.skip)
		}
	}
	if len(c.Hosts) == 0 {
		env = append(env, "GOPROXY=off", "npm_config_offline=true", "pnpm_config_offline=true", "CARGO_NET_OFFLINE=true",
			"PIP_NO_INDEX=1")
	} else {
		address := "http://" + proxyAddress
		env = append(env, "HTTP_PROXY="+address, "HTTPS_PROXY="+address, "http_proxy="+address, "https_proxy="+address,
			"YARN_HTTP_PROXY="+address, "YARN_HTTPS_PROXY="+address, // Yarn 2 and newer read no other
			"NO_PROXY=localhost,127.0.0.1,::1",
			"GRADLE_OPTS=-Dhttp.proxyHost="+proxyHost+" -Dhttp.proxyPort="+proxyPort+
				" -Dhttps.proxyHost="+proxyHost+" -Dhttps.proxyPort="+proxyPort)
	}
	return env
}

// Path returns the PATH of commands: the folders of toolchains and of the system.
func (s *Sandbox) Path() string {
	var bin []string
	for _, t := range s.capability.toolchains {
		bin = append(bin, t.Bin...)
	}
	bin = append(bin, systemPath)
	if _, programs := systemProfile(); programs != "" {
		bin = append(bin, programs)
	}
	return strings.Join(bin, ":")
}

// mountPoint returns the path of a mount inside the sandbox.
func mountPoint(m Mount) string { return cmp.Or(m.To, m.From) }

// isMountable reports whether file is a folder or a regular file. Symbolic links are not mounted: the mount would
// follow them on this host, while in the sandbox they resolve to the sandbox's files.
func isMountable(file string) bool {
	st, err := os.Lstat(file)
	return err == nil && (st.IsDir() || st.Mode().IsRegular())
}

// pathRelocation makes paths accessible that only root can reach. If SIA is root, commands run as another user, who
// can't enter root's folders. So a first bubblewrap, still as root, mounts the paths in a public place. It drops its
// privileges and starts the second bubblewrap, which creates the sandbox.
//
// The parent-death signal kills a child only if the parent may signal it. A bubblewrap that was started as root may not
// signal other users, so between the two waits unshare, which may.
type pathRelocation struct {
	on    bool
	paths []string
}

// at returns the path at which bubblewrap finds a path of this host.
func (r *pathRelocation) at(p string) string {
	if !r.on {
		return p
	}
	i := slices.Index(r.paths, p)
	if i < 0 {
		i = len(r.paths)
		r.paths = append(r.paths, p)
	}
	return "/tmp/" + strconv.Itoa(i)
}

// command returns the command line of the first bubblewrap, up to the start of the second's.
func (r *pathRelocation) command(o Options) []string {
	if !r.on {
		return nil
	}
	args := []string{o.Bwrap, "--dev-bind", "/", "/", "--tmpfs", "/tmp"}
	for i, p := range r.paths {
		args = append(args, "--bind", p, "/tmp/"+strconv.Itoa(i))
	}
	id := strconv.Itoa(hostUID)
	return append(args, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_KILL",
		"--die-with-parent", "--", o.unshare, "--kill-child=KILL", "--",
		o.setpriv, "--reuid", id, "--regid", id, "--clear-groups", "--inh-caps=-all", "--pdeathsig", "KILL", "--")
}
