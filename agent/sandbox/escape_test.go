//go:build linux

package sandbox_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
)

// asUser is set when the suite runs as an ordinary user.
const asUser = "SIA_SANDBOX_TEST_AS_USER"

// TestEscape runs commands that try to break out, with each kind of sandbox on this host: with /proc and without, as
// root and as an ordinary user.
//
//test:plain
func TestEscape(t *testing.T) {
	h := newHost(t)
	for i, kind := range []sandbox.Kind{sandbox.KindFull, sandbox.KindNoProc} {
		if kind == sandbox.KindFull || os.Getenv(asUser) == "" {
			t.Run(string(kind), func(t *testing.T) {
				t.Parallel()
				h.box, h.mark = box(t, sandbox.Options{Kind: kind}), fmt.Sprintf("%d%d", os.Getpid(), i)
				escape(t, h, kind)
			})
		}
	}
	if os.Geteuid() != 0 {
		return
	}
	t.Run("as an ordinary user", func(t *testing.T) {
		t.Parallel()
		dir, err := os.MkdirTemp("", "sia-user-*")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		program := filepath.Join(dir, "tests")
		in, err := os.ReadFile(self(t))
		if err != nil {
			t.Fatal(err)
		}
		write(t, program, string(in))
		cmd := exec.Command(program, "-test.run", "^(TestEscape|TestCommand|TestLimits|TestKilledParent)", "-test.v")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), asUser+"=1", "TMPDIR="+dir, "HOME="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestEscape") {
			t.Errorf("as an ordinary user: %v\n%s", err, out)
		}
	})
}

const secret = "the-host's-secret-7f3a"

// host holds the targets that must be unreachable: files, variables, sockets, other work trees.
type host struct {
	box            *sandbox.Sandbox
	dir            string // contains all of the following
	file           string
	port, abstract string
	mark           string // of this run's processes
}

func newHost(t *testing.T) host {
	h := host{dir: t.TempDir()}
	h.file = filepath.Join(h.dir, "secret")
	write(t, h.file, secret)
	home := filepath.Join(h.dir, "home")
	write(t, filepath.Join(home, ".git-credentials"), "https://x:"+secret+"@github.com\n")
	write(t, filepath.Join(home, ".netrc"), "machine github.com login x password "+secret+"\n")
	write(t, filepath.Join(home, ".gitconfig"),
		"[credential]\n\thelper = store\n[http]\n\textraHeader = Authorization: "+secret+"\n")
	write(t, filepath.Join(home, ".ssh", "id_ed25519"), secret)
	write(t, filepath.Join(h.dir, "other-workspace", "file"), secret)
	t.Setenv("HOME", home)
	t.Setenv("SIA_WEBHOOK_SECRET", secret)
	t.Setenv("GITHUB_TOKEN", secret)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_, h.port, _ = net.SplitHostPort(l.Addr().String())
	h.abstract = fmt.Sprintf("sia-test-%d-%s", os.Getpid(), h.port)
	u, err := net.Listen("unix", "@"+h.abstract)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	return h
}

func escape(t *testing.T, h host, kind sandbox.Kind) {
	if got := h.box.Capability().Kind; got != kind {
		t.Fatalf("the sandbox is %q", got)
	}
	small := sandbox.Limits{Time: 30 * time.Second, Memory: 256 << 20, Processes: 96, Temp: 64 << 20, FileSize: 64 << 20,
		Disk: 96 << 20, Files: 20000, Printed: 4 << 20, Output: 8 << 10}

	for _, c := range []struct {
		name  string
		files map[string]string
		sh    string
		limit func(*sandbox.Limits)
		ended sandbox.EndReason // expected end; "": not ended
		says  string            // expected part of the output
		check func(t *testing.T, dir string, r sandbox.Result)
	}{
		{name: "the host's files", sh: `cat ` + h.file + ` ` + h.dir + `/*/* /etc/shadow /root/.ssh/* /var/lib/*/* ` +
			`/home/*/.bashrc 2>/dev/null
			ls -a / /root /var /home 2>/dev/null; find / -xdev -name 'secret' 2>/dev/null; cat /proc/1/root` + h.file + ` ` +
			`/proc/*/cwd/secret 2>/dev/null; echo end`, says: "end"},
		{name: "the environment", sh: `env; set; cat /proc/*/environ /proc/*/task/*/environ 2>/dev/null | tr '\0' '\n';` +
			` echo end`, says: "end"},
		{name: "the git credentials", files: map[string]string{".git/config": "[core]\n"},
			sh: `cat ~/.git-credentials ~/.netrc ~/.gitconfig ` + h.dir + `/home/.git-credentials 2>/dev/null
			printf 'protocol=https\nhost=github.com\n\n' | GIT_TERMINAL_PROMPT=0 git credential fill; git config --list ` +
				`--show-origin; echo end`, says: "end"},
		{name: "other workspaces", sh: `cat ../other-workspace/file ../../other-workspace/file ` + h.dir +
			`/other-workspace/file 2>/dev/null; ls -R .. | head -200; find / -name 'other-workspace' 2>/dev/null; echo ` +
			`end`, says: "end",
			check: func(t *testing.T, _ string, r sandbox.Result) {
				if strings.Contains(strings.ReplaceAll(string(r.Output), h.dir, ""), "other-workspace\n") {
					t.Errorf("it sees another work tree:\n%s", r.Output)
				}
			}},
		{name: "proc", sh: `for f in core_pattern hostname modprobe; do (echo x > /proc/sys/kernel/$f) 2>/dev/null && ` +
			`echo BR""OKE wrote to $f; done
			(echo b > /proc/sysrq-trigger) 2>/dev/null && echo BR""OKE sysrq; (echo 3 > /proc/sys/vm/drop_caches) ` +
			`2>/dev/null && echo BR""OKE caches
			head -c 1 /proc/kcore >/dev/null 2>&1 && echo BR""OKE kcore; cat ` +
			`/proc/` + fmt.Sprint(os.Getpid()) + `/cmdline 2>/dev/null | tr '\0' ' ' | grep -q test.run && echo BR""OKE ` +
			`sees the tests
			ls -l /proc/1/fd /proc/self/fd 2>/dev/null | grep -E -- '-> (/|pipe)' | grep -vE -- ' [0-3] -> '; [ -e ` +
			`/sys/kernel ] && echo BR""OKE sys; echo end`, says: "end",
			check: func(t *testing.T, _ string, r sandbox.Result) {
				if string(r.Output) != "end\n" {
					t.Errorf("it found:\n%s", r.Output)
				}
			}},
		{name: "the network, system calls and processes",
			sh: `./attacker attack ` + h.port + ` ` + h.abstract + ` ` + fmt.Sprint(os.Getpid()), says: "attacked"},
		{name: "programs that become root",
			sh: `for p in su sudo newgrp; do command -v $p >/dev/null && (echo | timeout 0.5 $p -c id 2>/dev/null ` +
				`</dev/null) | grep -q uid=0 && echo BROKE $p; done; grep -q '^NoNewPrivs:.1' /proc/self/status 2>/dev/null ` +
				`|| [ ! -e /proc/self/status ] || echo BROKE new privileges; true`},
		{name: "the system's files", sh: `for d in / /usr /usr/bin /etc /dev /bin /lib /run /var /home /root; do ` +
			`(touch $d/x) 2>/dev/null && echo BROKE wrote to $d; done; (echo x >> /etc/passwd) 2>/dev/null && echo BROKE ` +
			`passwd; rm -rf /usr/bin /etc 2>/dev/null; ls /usr/bin/env`},
		{name: "fork bomb", sh: `bomb() { bomb | bomb & }; bomb; sleep ` + h.mark,
			limit: func(l *sandbox.Limits) { l.Time = time.Second }, ended: sandbox.ByTime},
		{name: "many processes", sh: `sh -c 'for i in $(seq 400); do sleep 4242 & done' 2>&1; true`, says: "fork"},
		{name: "memory bomb", sh: `tail /dev/zero`, ended: sandbox.ByMemory},
		{name: "memory bomb of many", sh: `for i in 1 2 3 4 5 6 7 8; do (head -c 60000000 /dev/zero; sleep 60) | tail ` +
			`& done; wait`, ended: sandbox.ByMemory},
		{name: "memory bomb in temporary files",
			sh:    `for d in /tmp /dev/shm ~; do dd if=/dev/zero of=$d/x bs=1M 2>&1 | tail -1; done; sleep 0.2; echo end`,
			says:  "end",
			limit: func(l *sandbox.Limits) { l.FileSize = 1 << 30 },
			check: func(t *testing.T, _ string, r sandbox.Result) {
				if n := strings.Count(string(r.Output), "copied"); n != 3 || strings.Contains(string(r.Output), " GB,") {
					t.Errorf("temporary files:\n%s", r.Output)
				}
			}},
		{name: "temporary files that add up",
			sh:    `for d in /tmp /dev/shm ~; do dd if=/dev/zero of=$d/x bs=1M 2>&1 | tail -1; done; sleep 60`,
			limit: func(l *sandbox.Limits) { l.FileSize, l.Memory = 1<<30, 128<<20 }, ended: sandbox.ByMemory},
		{name: "disk bomb", sh: `for i in $(seq 100); do head -c 8000000 /dev/zero > f$i || exit; done; sleep 60`,
			ended: sandbox.ByDisk},
		{name: "disk bomb of one file", sh: `dd if=/dev/zero of=big bs=1M count=4000 2>/dev/null; ls -l big`,
			check: func(t *testing.T, dir string, _ sandbox.Result) {
				if st, err := os.Stat(filepath.Join(dir, "big")); err != nil || st.Size() > 64<<20 {
					t.Errorf("the file: %v %v", st, err)
				}
			}},
		{name: "disk bomb without names",
			sh:    `for fd in $(seq 10 60); do eval "exec $fd>f"; rm f; head -c 8000000 /dev/zero >&$fd; done; sleep 60`,
			ended: sandbox.ByDisk},
		{name: "disk bomb behind a closed door",
			sh: `mkdir d; cd d; chmod 000 ../d; for i in $(seq 40); do head -c 8000000 /dev/zero > /workspace/g$i; mv ` +
				`/workspace/g$i . 2>/dev/null; done; sleep 60`, ended: sandbox.ByDisk},
		{name: "disk bomb behind a door half closed",
			sh: `mkdir d; for fd in $(seq 10 60); do eval "exec $fd>d/f$fd"; done; chmod 400 d; for fd in $(seq 10 60); ` +
				`do head -c 8000000 /dev/zero >&$fd; done; sleep 60`, ended: sandbox.ByDisk},
		{name: "a bomb of empty files", sh: `seq 9000 | xargs touch; sleep 60`,
			limit: func(l *sandbox.Limits) { l.Files = 3000 }, ended: sandbox.ByDisk},
		{name: "a bomb of empty temporary files", sh: `cd /tmp; seq 9000 | xargs touch; sleep 60`,
			limit: func(l *sandbox.Limits) { l.Files = 3000 }, ended: sandbox.ByDisk},
		{name: "endless output", sh: `yes ` + strings.Repeat("x", 100), ended: sandbox.ByOutput,
			check: func(t *testing.T, _ string, r sandbox.Result) {
				if len(r.Output) > 9<<10 || r.Printed > 5<<20 {
					t.Errorf("%d bytes were kept of %d", len(r.Output), r.Printed)
				}
			}},
		{name: "background daemon", sh: `n=` + h.mark +
			`; (setsid nohup sleep $n </dev/null >/dev/null 2>&1 &); setsid sleep $n & disown; (trap '' TERM HUP INT; ` +
			`exec sleep $n) & echo started`, says: "started",
			check: func(t *testing.T, _ string, _ sandbox.Result) {
				if left := alive(t, "sleep\x00"+h.mark); len(left) > 0 {
					t.Errorf("still running: %v", left)
				}
			}},
		{name: "endless", sh: `trap '' TERM INT HUP; while :; do :; done`,
			limit: func(l *sandbox.Limits) { l.Time = 300 * time.Millisecond }, ended: sandbox.ByTime},
		// the kernel's own limit
		{name: "endless work", sh: `while :; do :; done`, limit: func(l *sandbox.Limits) { l.CPU = time.Second },
			check: func(t *testing.T, _ string, r sandbox.Result) {
				if r.ExitCode != 128+int(syscall.SIGXCPU) {
					t.Errorf("it ended %s", r)
				}
			}},
		{name: "symbolic links and ..", sh: `ln -s ` + h.dir + ` out; ln -s / root; ln -s ../../../../../../../.. up
			(echo x > out/planted; echo x > ../planted; echo x > up` + h.dir + `/planted; mkdir -p ` + h.dir + ` && echo ` +
			`x > ` + h.dir + `/planted) 2>/dev/null
			cat out/secret root` + h.file + ` up` + h.file + ` 2>/dev/null; echo end`, says: "end",
			check: func(t *testing.T, dir string, _ sandbox.Result) {
				for _, p := range []string{filepath.Join(h.dir, "planted"), filepath.Join(filepath.Dir(dir), "planted")} {
					if _, err := os.Lstat(p); err == nil {
						t.Errorf("it wrote %s", p)
					}
				}
			}},
		{name: "git hooks and filters",
			files: map[string]string{".git/config": "[core]\n\tbare = false\n", ".git/hooks/": "",
				".git/HEAD": "ref: refs/heads/main\n", ".git/objects/": "", ".git/refs/": "",
				".gitattributes": "* filter=evil\n", "a": "a"},
			sh: `(echo 'touch /tmp/ran' > .git/hooks/pre-commit; git config filter.evil.clean 'touch /tmp/ran; cat'; git ` +
				`config core.fsmonitor 'touch /tmp/ran'; git config core.hooksPath /workspace
			mv .git .git2; rm -rf .git; ln -sfn /etc .git; chmod -R 777 .git) 2>/dev/null; git status 2>&1 | head -2; ls ` +
				`-a .git .git/hooks; cat .git/config`,
			check: func(t *testing.T, dir string, _ sandbox.Result) {
				b, err := os.ReadFile(filepath.Join(dir, ".git", "config"))
				hooks, _ := os.ReadDir(filepath.Join(dir, ".git", "hooks"))
				if err != nil || string(b) != "[core]\n\tbare = false\n" || len(hooks) > 0 {
					t.Errorf("the repository was changed: %q %v %v", b, hooks, err)
				}
			}},
		{name: "a submodule's address", files: map[string]string{
			".gitmodules": "[submodule \"a\"]\n\tpath = a\n\turl = file://" + h.dir +
				"\n[submodule \"b\"]\n\tpath = b\n\turl = ext::sh -c touch% " + h.dir +
				"/planted\n[submodule \"c\"]\n\tpath = ../../c\n\turl = https://github.com/a/b\n"},
			sh: `git init -q sub && cp .gitmodules sub && cd sub && git config protocol.allow always && git submodule ` +
				`init; git submodule update 2>&1 | tail -2
			git clone -q file://` + h.dir + ` x; git clone -q 'ext::sh -c touch% ` + h.dir + `/planted' y; git ls-remote ` +
				`https://github.com/a/b; echo end`, says: "end",
			check: func(t *testing.T, _ string, _ sandbox.Result) {
				if _, err := os.Lstat(filepath.Join(h.dir, "planted")); err == nil {
					t.Error("it ran on the host")
				}
			}},
		{name: "another tree as .git", sh: `ln -s ` + h.dir + ` .git; ls -la`,
			check: func(t *testing.T, dir string, _ sandbox.Result) {
				if r := sh(t, h.box, dir, `cat .git/secret .git/*/file; ls .git/`); strings.Contains(string(r.Output), secret) ||
					r.OK() {
					t.Errorf("the second time it got there: %s\n%s", r, r.Output)
				}
			}},
		{name: "everything of its own", sh: `kill -9 -1; kill -9 1; echo end`, says: "end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := tree(t, c.files)
			if strings.Contains(c.sh, "./attacker") {
				in, err := os.ReadFile(self(t))
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, "attacker"), string(in))
			}
			limits := small
			if c.limit != nil {
				c.limit(&limits)
			}
			r := run(t, h.box, sandbox.Command{Dir: dir, Shell: c.sh, Limits: limits})
			out := string(r.Output)
			if strings.Contains(out, secret) || strings.Contains(out, "BROKE") {
				t.Errorf("it got out:\n%s", out)
			}
			if r.Ended != c.ended || (r.Ended != "") != (r.Why != "") {
				t.Errorf("it ended %s (%q), want %q\n%s", r, r.Ended, c.ended, out)
			}
			if !strings.Contains(out, c.says) {
				t.Errorf("the output lacks %q: %s\n%s", c.says, r, out)
			}
			if c.check != nil {
				c.check(t, dir, r)
			}
			if b, err := os.ReadFile(h.file); err != nil || string(b) != secret {
				t.Errorf("the host's file: %q %v", b, err)
			}
		})
	}
	if left := alive(t, "sleep\x00"+h.mark); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}

// TestEscapeOfTheDiskLimitInSteps tests that several commands together can't exceed the disk limit by hiding files.
func TestEscapeOfTheDiskLimitInSteps(t *testing.T) {
	s, dir := box(t, sandbox.Options{}), tree(t, nil)
	limits := sandbox.Limits{Time: time.Minute, Disk: 96 << 20}
	var last sandbox.Result
	for i := range 4 {
		last = run(t, s, sandbox.Command{Dir: dir, Limits: limits,
			Shell: fmt.Sprintf("[ ! -e a ] || chmod 700 a; mkdir -p a/b%d && head -c 48000000 /dev/zero > a/b%d/f; chmod 0 "+
				"a/b%d; chmod 111 a", i, i, i)})
	}
	if last.Ended != sandbox.ByDisk {
		t.Errorf("it ended %s\n%s", last, last.Output)
	}
	dir = tree(t, nil)
	for i := range 30 {
		if last = run(t, s, sandbox.Command{Dir: dir, Limits: limits,
			Shell: fmt.Sprintf("head -c 8000000 /dev/zero > f%d", i)}); last.Ended != "" {
			break
		}
	}
	if last.Ended != sandbox.ByDisk {
		t.Errorf("in small steps it ended %s\n%s", last, last.Output)
	}
}

// TestEscapeOfInherited tests that commands don't inherit descriptors without close-on-exec that this process was
// started with.
func TestEscapeOfInherited(t *testing.T) {
	f, err := os.Open("/")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fd, err := syscall.Dup(int(f.Fd())) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	r := sh(t, box(t, sandbox.Options{}), tree(t, nil),
		fmt.Sprintf(`ls -l /proc/self/fd; cat /proc/self/fd/%d/etc/shadow; ls /proc/1/fd`, fd))
	if strings.Contains(string(r.Output), "root:") || strings.Contains(string(r.Output), fmt.Sprintf(" %d -> /", fd)) {
		t.Errorf("the descriptor came through:\n%s", r.Output)
	}
}

// TestEscapeWhileCancelled tests that no process remains when Run returns after a cancellation.
func TestEscapeWhileCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	started := writer(func(p []byte) (int, error) { cancel(); return len(p), nil })
	r, err := box(t, sandbox.Options{}).Run(ctx,
		sandbox.Command{Dir: tree(t, nil), Shell: "echo started; sleep 515253", Output: started})
	if err != nil || r.Ended != sandbox.ByCancel {
		t.Errorf("%s, %v", r, err)
	}
	if left := alive(t, "515253"); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

var _ io.Writer = writer(nil)
