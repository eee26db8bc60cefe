//go:build linux

package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/sandbox"
)

func TestCommand(t *testing.T) {
	s := box(t, sandbox.Options{})
	dir := tree(t, map[string]string{".git/keep": "kept\n"})
	cache := tree(t, map[string]string{"seen": "cached\n"})
	for _, c := range []struct {
		name string
		c    sandbox.Command
		out  string
		exit int
	}{
		{"both streams in one", sandbox.Command{Shell: "echo out; echo err >&2"}, "out\nerr\n", 0},
		{"status", sandbox.Command{Shell: "exit 42"}, "", 42},
		{"a signal", sandbox.Command{Shell: "kill -TERM $$"}, "", 143},
		{"not found", sandbox.Command{Argv: []string{"no-such-program"}}, "", -2},
		{"arguments as they are", sandbox.Command{Argv: []string{"printf", "%s|", "a b", "$HOME", "*", ""}}, "a b|$HOME|*||",
			0},
		{"input", sandbox.Command{Shell: "tr a-z A-Z", Stdin: strings.NewReader("hello")}, "HELLO", 0},
		{"no input", sandbox.Command{Shell: "cat; echo end"}, "end\n", 0},
		{"where it is", sandbox.Command{Shell: "pwd; echo $HOME; id -u; hostname 2>/dev/null || cat " +
			"/proc/sys/kernel/hostname"}, "/workspace\n/home/user\n1000\nsandbox\n", 0},
		{"variables", sandbox.Command{Shell: "echo $A $GOPROXY", Env: []string{"A=1 2", "GOPROXY=direct"}}, "1 2 direct\n",
			0},
		{"package managers know that there is no network", sandbox.Command{
			Shell: "echo $GOPROXY $npm_config_offline $pnpm_config_offline $CARGO_NET_OFFLINE $PIP_NO_INDEX"},
			"off true true true 1\n", 0},
		{"packages download no browsers", sandbox.Command{Shell: "echo $PUPPETEER_SKIP_DOWNLOAD $CYPRESS_INSTALL_BINARY"},
			"true 0\n", 0},
		{"protected", sandbox.Command{Shell: "(echo x > .git/keep) 2>/dev/null; rm -rf .git 2>/dev/null; cat .git/keep"},
			"kept\n", 0},
		{"a mount to read", sandbox.Command{Shell: "cat /cache/x/seen; (echo x > /cache/x/y) 2>/dev/null || echo no",
			Mounts: []sandbox.Mount{{From: cache, To: "/cache/x"}}}, "cached\nno\n", 0},
		{"a mount to write", sandbox.Command{Shell: "echo x > /cache/x/new && ls /cache/x",
			Mounts: []sandbox.Mount{{From: cache, To: "/cache/x", Writable: true}}}, "new\nseen\n", 0},
		{"loopback", sandbox.Command{Shell: "(exec 3<>/dev/tcp/127.0.0.1/1) 2>&1 | grep -o refused | head -1"}, "refused\n",
			0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.c.Dir = dir
			var all bytes.Buffer
			c.c.Output = &all
			r, err := s.Run(context.Background(), c.c)
			if c.exit == -2 {
				if err == nil && r.ExitCode != 127 && r.ExitCode != 1 ||
					err != nil && !strings.Contains(err.Error(), "no-such-program") {
					t.Errorf("%s, %v", r, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.out, string(r.Output)); d != "" || r.ExitCode != c.exit {
				t.Errorf("it ended %s:\n%s", r, d)
			}
			if !bytes.Equal(all.Bytes(), r.Output) || r.Printed != int64(all.Len()) {
				t.Errorf("passed on: %q of %d", all.Bytes(), r.Printed)
			}
		})
	}
	b, err := os.ReadFile(filepath.Join(cache, "new"))
	if err != nil || string(b) != "x\n" {
		t.Errorf("what it wrote: %q %v", b, err)
	}
}

func TestCommandToolchains(t *testing.T) {
	s := box(t, sandbox.Options{})
	dir := tree(t, map[string]string{"go.mod": "module x\n", "p.js": "console.log(6*7)\n", ".git/": ""})
	r := sh(t, s, dir, "go version && go env GOROOT && node p.js")
	if !r.OK() || !strings.Contains(string(r.Output), "go version go") || !strings.HasSuffix(string(r.Output), "\n42\n") {
		t.Errorf("it ended %s:\n%s", r, r.Output)
	}
}

// Real toolchains can build and run under the filter of system calls; .ci/deps installs them.
func TestCommandToolchainsWork(t *testing.T) {
	s := box(t, sandbox.Options{})
	dir := tree(t, map[string]string{
		"g/go.mod": "module x\n\ngo 1.22\n",
		"g/main.go": `package main

import "os/exec"
import "fmt"
import "sync"

// int twice(int n) { return 2 * n; }
import "C"

func main() {
	var all sync.WaitGroup
	for range 50 { all.Add(1); go func() { defer all.Done(); fmt.Sprint(1) }() }
	all.Wait()
	out, err := exec.Command("echo", "child").Output()
	fmt.Printf("%d %s%v\n", C.twice(21), out, err)
}
`,
		"a.c": `#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <spawn.h>
static void *f(void *p) { *(int *)p = 42; return p; }
int main(void) {
	int n = 0; pthread_t t; pthread_create(&t, 0, f, &n); pthread_join(t, 0);
	int p[2]; if (pipe(p)) return 1;
	pid_t c = fork(); if (!c) _exit(7);
	int st; waitpid(c, &st, 0); printf("%d %d\n", n, WEXITSTATUS(st));
}
`,
		"a.js": `const { Worker, isMainThread, parentPort } = require('worker_threads');
if (isMainThread) { new Worker(__filename).on('message', (m) => console.log(m,
	require('child_process').execFileSync('echo', ['child']).toString().trim(), require('fs').watch('.').close() ?? ''));
} else parentPort.postMessage(42);
`,
		"a.py": `import asyncio, multiprocessing, subprocess, tempfile, threading, sqlite3
t = threading.Thread(target=lambda: None); t.start(); t.join()
async def main(): return (await (await asyncio.create_subprocess_exec("echo", "child", stdout=-1)).communicate())[0]
print(42, asyncio.run(main()).decode().strip(), len(sqlite3.connect(tempfile.mktemp()).execute("select 1").fetchall()))
`,
		"A.java": `class A { public static void main(String[] a) throws Exception {
	Thread t = new Thread(() -> {}); t.start(); t.join();
	Process p = new ProcessBuilder("echo", "child").start();
	System.out.println("42 " + new String(p.getInputStream().readAllBytes()).trim());
} }
`,
		"a.rs": `fn main() { let t = std::thread::spawn(|| 42).join().unwrap();
	println!("{} {:?}", t, std::process::Command::new("echo").arg("child").status().unwrap().code()); }
`,
		"a.rb": `t = Thread.new { 42 }; puts "#{t.value} #{` + "`echo child`" + `.strip} ` +
			`#{fork { exit 3 } && Process.wait2[1].exitstatus}"` + "\n",
		"Makefile": "all: a b\na b:\n\t@echo $@\n",
	})
	for _, c := range []struct{ needs, sh, want string }{
		{"go", "cd g && CGO_ENABLED=1 go run .", "42 child\n<nil>\n"},
		{"gcc", "gcc -O2 -pthread -o /tmp/a a.c && /tmp/a && g++ --version > /dev/null", "42 7\n"},
		{"gcc", "gcc -g -fsanitize=address -o /tmp/b a.c -pthread && ASAN_OPTIONS=detect_leaks=1 /tmp/b", "42 7\n"},
		{"node", "node a.js && npm --version > /dev/null", "42 child \n"},
		{"python3", "python3 a.py", "42 child 1\n"},
		{"javac", "javac -d /tmp A.java && java -cp /tmp A", "42 child\n"},
		{"rustc", "rustc -o /tmp/r a.rs && /tmp/r && cargo --version > /dev/null", "child\n42 Some(0)\n"},
		{"ruby", "ruby a.rb", "42 child 3\n"},
		{"make", "make -s", "a\nb\n"},
		{"perl", "perl -e 'print 42; system(\"echo\")'", "42\n"},
		{"git", "git init -q /tmp/g && cd /tmp/g && touch a && git add a && git commit -qm x && git gc -q && " +
			"git log --format=%s", "x\n"},
	} {
		if os.Getenv(asUser) != "" && !sh(t, s, dir, "command -v "+c.needs).OK() {
			continue // reserved to root, which tries it
		}
		t.Run(c.needs, func(t *testing.T) {
			r := run(t, s, sandbox.Command{Dir: dir, Shell: c.sh, Env: []string{"GOCACHE=/tmp/go", "GOFLAGS=-buildvcs=false"},
				Limits: sandbox.Limits{Time: 3 * time.Minute}})
			if !r.OK() || string(r.Output) != c.want {
				t.Errorf("%s: %q", r, r.Output)
			}
		})
	}
}

func TestCommandKeepsGitReadable(t *testing.T) {
	s := box(t, sandbox.Options{})
	dir := tree(t, map[string]string{"a": "a\n"})
	if r := sh(t, s, dir, "git init -q && git add a && git commit -qm first"); !r.OK() {
		t.Fatalf("%s\n%s", r, r.Output)
	}
	r := sh(t, s, dir, "git log --oneline | wc -l; echo b >> a; git diff --stat | tail -1; git commit -qam second "+
		"2>/dev/null || echo refused")
	if !strings.Contains(string(r.Output), "1\n 1 file changed") || !strings.HasSuffix(string(r.Output), "refused\n") {
		t.Errorf("%s\n%s", r, r.Output)
	}
}

func TestCommandRefused(t *testing.T) {
	s := box(t, sandbox.Options{})
	dir := tree(t, nil)
	for name, c := range map[string]sandbox.Command{
		"absolute":                 {Dir: "tree", Shell: "true"},
		"either Argv or Shell":     {Dir: dir},
		"NUL":                      {Dir: dir, Shell: "a\x00b"},
		"NAME=value":               {Dir: dir, Shell: "true", Env: []string{"X"}},
		"mounted at":               {Dir: dir, Shell: "true", Mounts: []sandbox.Mount{{From: "/tmp", To: "/workspace/x"}}},
		"a star":                   {Dir: dir, Shell: "true", Hosts: []string{"a.*.b"}},
		"no such file":             {Dir: dir + "/absent", Shell: "true"},
		"can't find source path":   {Dir: dir, Shell: "true", Mounts: []sandbox.Mount{{From: "/no/such/folder", To: "/x"}}},
		"both must be absolute":    {Dir: dir, Shell: "true", Mounts: []sandbox.Mount{{From: "x"}}},
		"want a name such as prox": {Dir: dir, Shell: "true", Hosts: []string{"x/y"}},
	} {
		_, err := s.Run(context.Background(), c)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(name)) && name != "no such file" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCommandsSideBySide(t *testing.T) {
	s := box(t, sandbox.Options{})
	var all sync.WaitGroup
	for i := range 8 {
		dir := tree(t, nil)
		all.Go(func() {
			r, err := s.Run(context.Background(),
				sandbox.Command{Dir: dir, Shell: fmt.Sprintf("echo %d > n; cat n; ls -a", i), Limits: sandbox.Limits{Processes: 8}})
			if want := fmt.Sprintf("%d\n.\n..\nn\n", i); err != nil || string(r.Output) != want {
				t.Errorf("%d: %s %v %q", i, r, err, r.Output)
			}
		})
	}
	all.Wait()
}

func TestOutputThatCannotBePassedOn(t *testing.T) {
	s := box(t, sandbox.Options{})
	full := writer(func([]byte) (int, error) { return 0, errors.New("no room") })
	r := run(t, s, sandbox.Command{Dir: tree(t, nil), Shell: "echo x; sleep 60", Output: full})
	if r.Ended != sandbox.ByOutput || !strings.Contains(r.Why, "no room") {
		t.Errorf("%s", r)
	}
}

func TestLimitsSayWhy(t *testing.T) {
	s := box(t, sandbox.Options{Limits: sandbox.Limits{Time: 2 * time.Second}}) // enough for the echo on a busy machine
	r := run(t, s, sandbox.Command{Dir: tree(t, nil), Shell: "echo before; sleep 60"})
	if got := r.String(); r.Ended != sandbox.ByTime || r.ExitCode != -1 ||
		!strings.HasSuffix(got, "it was not done within 2s") || string(r.Output) != "before\n" {
		t.Errorf("%s: %q", got, r.Output)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	r, err := s.Run(ctx, sandbox.Command{Dir: tree(t, nil), Shell: "sleep 60", Limits: sandbox.Limits{Time: time.Minute}})
	if err != nil || r.Ended != sandbox.ByTime || r.Why != "the time allowed is over" {
		t.Errorf("%s %v", r, err)
	}
	r = run(t, s, sandbox.Command{Dir: tree(t, nil), Shell: "tail /dev/zero",
		Limits: sandbox.Limits{Time: time.Minute, Memory: 64 << 20}})
	if !strings.HasSuffix(r.String(), "it needed more than 64 MiB of memory") {
		t.Errorf("%s", r)
	}
}

// Shared memory counts once, for any number of processes.
func TestSharedMemoryCountsOnce(t *testing.T) {
	dir := tree(t, map[string]string{"forks.py": `
import os, time
held = b"x" * (400 << 20)
wait, end = os.pipe()
for _ in range(12):
    if os.fork() == 0:
        os.close(end)
        os.read(wait, 1)
        os._exit(0)
time.sleep(1)  # the watch looks
os.close(end)
for _ in range(12):
    os.wait()
print("done")
`})
	r := run(t, box(t, sandbox.Options{}), sandbox.Command{Dir: dir, Shell: "python3 forks.py",
		Limits: sandbox.Limits{Time: time.Minute, Memory: 1 << 30}})
	if !r.OK() || string(r.Output) != "done\n" {
		t.Errorf("%s: %q", r, r.Output)
	}
}

// BenchmarkSandboxStart measures the overhead of the sandbox: it runs `true` inside, for comparison with
// BenchmarkPlainStart.
func BenchmarkSandboxStart(b *testing.B) {
	for _, kind := range []sandbox.Kind{sandbox.KindFull, sandbox.KindNoProc} {
		b.Run(string(kind), func(b *testing.B) {
			s, dir := box(b, sandbox.Options{Kind: kind}), tree(b, nil)
			for b.Loop() {
				if r := run(b, s, sandbox.Command{Dir: dir, Argv: []string{"/bin/true"}}); !r.OK() {
					b.Fatal(r)
				}
			}
		})
	}
}

// BenchmarkPlainStart runs `true` without a sandbox.
func BenchmarkPlainStart(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// A system such as NixOS has its programs in a store, which commands see.
func TestProgramsInAStore(t *testing.T) {
	store, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bin, profile := filepath.Join(store, "system", "bin"), filepath.Join(t.TempDir(), "profile")
	if err := errors.Join(os.MkdirAll(bin, 0o755), os.Symlink(bin, profile)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(bin, "greet"), "#!/bin/sh\necho hello\n")
	t.Cleanup(sandbox.SetSystemProfile(store, profile))
	s := box(t, sandbox.Options{})
	if r := run(t, s, sandbox.Command{Dir: tree(t, nil), Shell: "greet"}); string(r.Output) != "hello\n" {
		t.Errorf("%s:\n%s", r, r.Output)
	}
}
