// Package sandbox runs untrusted commands: the setup, the builds and the tests of a repository that may be hostile.
//
// Concepts:
//
//   - [Probe] determines the capabilities of this host, by running a command that tries to break out. [Capability]
//     describes how to get the missing ones.
//   - [Sandbox.Run] runs one [Command] in namespaces of its own, created with bubblewrap
//     (https://github.com/containers/bubblewrap): the system read-only, the work tree writable at [WorkDir], an empty
//     home, no environment variables of this process, no network, no capabilities, an unprivileged user.
//   - [Limits] limit time, memory, processes, files, disk and output. The kernel enforces those that it can (rlimit,
//     and cgroup v2 if delegated), and a watch enforces the others (watch_linux.go). In all cases the process namespace
//     ends with the command, and all of its processes with it.
//   - If a command is ended, its [Result] has the reason. An error means that it could not be run.
//   - There is no network. A command that may download packages gets a proxy that connects only to hosts allowed by
//     name (proxy.go). A command may also get an HTTP service of this process. Both are sockets, mounted in the sandbox
//     (egress.go).
//
// There is no degraded mode: without a working sandbox, [New] returns an error.
//
// The package imports no other package of this module. Start reading at sandbox.go, then args.go for the environment
// of a command, and escape_test.go for the attacks that must fail.
package sandbox
