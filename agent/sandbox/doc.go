// Package sandbox runs commands that nobody trusts: the setup, the builds and
// the tests of a repository with code that may be hostile.
//
// Concepts:
//
//   - [Probe] finds out what this host can do, by running something that tries to
//     break out. It says in words how to get the rest ([Capability]).
//   - [Sandbox.Run] runs one [Command] in namespaces of its own, made with
//     bubblewrap (https://github.com/containers/bubblewrap): the system
//     read-only, the work tree writable at [WorkDir], an empty home, no variable
//     of our environment, no network, no capability, an unprivileged user.
//   - [Limits] bound time, memory, processes, files, disk and output. The kernel
//     holds what it can (rlimit, and cgroup v2 where it is delegated), and a watch
//     holds the rest (watch_linux.go). Whatever ends a command, the process
//     namespace dies with it: nothing stays behind.
//   - A command that was ended is a [Result] that says why, not an error. An
//     error means that it could not be run.
//   - The network is absent. A command that may fetch packages gets a proxy that
//     connects to hosts allowed by name and to nothing else (proxy.go). A command
//     that needs a service of ours gets that. Both are sockets, mounted inside
//     (egress.go).
//
// There is no degraded mode: without a working sandbox, [New] returns an error and
// nothing is run.
//
// The package imports nothing of ours. Start reading at sandbox.go, then
// args.go for what a command sees, and escape_test.go for what it must not be
// able to do.
package sandbox
