package sandbox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// allowedCalls and legacyCalls are the system calls that commands may use: those that compilers, interpreters and their
// programs need without any capability. All others, including those of later kernels, fail as if this kernel did not
// have them. The list omits calls that reach what namespaces don't separate, that require a capability which commands
// don't have, or that have led out of many sandboxes: key rings, io_uring, BPF, mounts, namespaces, file handles,
// memory and descriptors of other processes. It omits clone3, since a filter can't inspect its flags: programs fall
// back to clone. https://docs.docker.com/engine/security/seccomp/ is the equivalent for containers.
var allowedCalls = []uint32{
	unix.SYS_ACCEPT, unix.SYS_ACCEPT4, unix.SYS_BIND, unix.SYS_BRK, unix.SYS_CAPGET, unix.SYS_CAPSET, unix.SYS_CHDIR,
	unix.SYS_CLOCK_GETRES, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE,
	unix.SYS_CONNECT, unix.SYS_COPY_FILE_RANGE, unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_EPOLL_CREATE1,
	unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2, unix.SYS_EVENTFD2, unix.SYS_EXECVE,
	unix.SYS_EXECVEAT, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2,
	unix.SYS_FADVISE64, unix.SYS_FALLOCATE, unix.SYS_FCHDIR, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2,
	unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_FCNTL, unix.SYS_FDATASYNC, unix.SYS_FGETXATTR, unix.SYS_FLISTXATTR,
	unix.SYS_FLOCK, unix.SYS_FREMOVEXATTR, unix.SYS_FSETXATTR, unix.SYS_FSTAT, unix.SYS_FSTATFS, unix.SYS_FSYNC,
	unix.SYS_FTRUNCATE, unix.SYS_FUTEX, unix.SYS_FUTEX_REQUEUE, unix.SYS_FUTEX_WAIT, unix.SYS_FUTEX_WAITV,
	unix.SYS_FUTEX_WAKE, unix.SYS_GET_MEMPOLICY, unix.SYS_GET_ROBUST_LIST, unix.SYS_GETCPU, unix.SYS_GETCWD,
	unix.SYS_GETDENTS64, unix.SYS_GETEGID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETGROUPS, unix.SYS_GETITIMER,
	unix.SYS_GETPEERNAME, unix.SYS_GETPGID, unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETPRIORITY,
	unix.SYS_GETRANDOM, unix.SYS_GETRESGID, unix.SYS_GETRESUID, unix.SYS_GETRLIMIT, unix.SYS_GETRUSAGE,
	unix.SYS_GETSID, unix.SYS_GETSOCKNAME, unix.SYS_GETSOCKOPT, unix.SYS_GETTID, unix.SYS_GETTIMEOFDAY,
	unix.SYS_GETUID, unix.SYS_GETXATTR, unix.SYS_INOTIFY_ADD_WATCH, unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_RM_WATCH,
	unix.SYS_IO_CANCEL, unix.SYS_IO_DESTROY, unix.SYS_IO_GETEVENTS, unix.SYS_IO_PGETEVENTS, unix.SYS_IO_SETUP,
	unix.SYS_IO_SUBMIT, unix.SYS_IOCTL, unix.SYS_IOPRIO_GET, unix.SYS_IOPRIO_SET, unix.SYS_KILL,
	unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_RESTRICT_SELF, unix.SYS_LGETXATTR,
	unix.SYS_LINKAT, unix.SYS_LISTEN, unix.SYS_LISTXATTR, unix.SYS_LLISTXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_LSEEK,
	unix.SYS_LSETXATTR, unix.SYS_MADVISE, unix.SYS_MBIND, unix.SYS_MEMBARRIER, unix.SYS_MEMFD_CREATE,
	unix.SYS_MINCORE, unix.SYS_MKDIRAT, unix.SYS_MKNODAT, unix.SYS_MLOCK, unix.SYS_MLOCK2, unix.SYS_MLOCKALL,
	unix.SYS_MMAP, unix.SYS_MPROTECT, unix.SYS_MQ_GETSETATTR, unix.SYS_MQ_NOTIFY, unix.SYS_MQ_OPEN,
	unix.SYS_MQ_TIMEDRECEIVE, unix.SYS_MQ_TIMEDSEND, unix.SYS_MQ_UNLINK, unix.SYS_MREMAP, unix.SYS_MSEAL,
	unix.SYS_MSGCTL, unix.SYS_MSGGET, unix.SYS_MSGRCV, unix.SYS_MSGSND, unix.SYS_MSYNC, unix.SYS_MUNLOCK,
	unix.SYS_MUNLOCKALL, unix.SYS_MUNMAP, unix.SYS_NANOSLEEP, unix.SYS_NEWFSTATAT, unix.SYS_OPENAT, unix.SYS_OPENAT2,
	unix.SYS_PERSONALITY, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PIPE2, unix.SYS_PKEY_ALLOC,
	unix.SYS_PKEY_FREE, unix.SYS_PKEY_MPROTECT, unix.SYS_PPOLL, unix.SYS_PRCTL, unix.SYS_PREAD64, unix.SYS_PREADV,
	unix.SYS_PREADV2, unix.SYS_PRLIMIT64, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE, unix.SYS_PSELECT6,
	unix.SYS_PTRACE, unix.SYS_PWRITE64, unix.SYS_PWRITEV, unix.SYS_PWRITEV2, unix.SYS_READ, unix.SYS_READAHEAD,
	unix.SYS_READLINKAT, unix.SYS_READV, unix.SYS_RECVFROM, unix.SYS_RECVMMSG, unix.SYS_RECVMSG,
	unix.SYS_REMAP_FILE_PAGES, unix.SYS_REMOVEXATTR, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_RESTART_SYSCALL,
	unix.SYS_RSEQ, unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPENDING, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGQUEUEINFO,
	unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGSUSPEND, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_RT_TGSIGQUEUEINFO,
	unix.SYS_SCHED_GET_PRIORITY_MAX, unix.SYS_SCHED_GET_PRIORITY_MIN, unix.SYS_SCHED_GETAFFINITY,
	unix.SYS_SCHED_GETATTR, unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GETSCHEDULER, unix.SYS_SCHED_RR_GET_INTERVAL,
	unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETATTR, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER,
	unix.SYS_SCHED_YIELD, unix.SYS_SECCOMP, unix.SYS_SEMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP,
	unix.SYS_SENDFILE, unix.SYS_SENDMMSG, unix.SYS_SENDMSG, unix.SYS_SENDTO, unix.SYS_SET_MEMPOLICY,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_SET_TID_ADDRESS, unix.SYS_SETFSGID, unix.SYS_SETFSUID, unix.SYS_SETGID,
	unix.SYS_SETGROUPS, unix.SYS_SETITIMER, unix.SYS_SETPGID, unix.SYS_SETPRIORITY, unix.SYS_SETREGID,
	unix.SYS_SETRESGID, unix.SYS_SETRESUID, unix.SYS_SETREUID, unix.SYS_SETRLIMIT, unix.SYS_SETSID,
	unix.SYS_SETSOCKOPT, unix.SYS_SETUID, unix.SYS_SETXATTR, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SHMDT,
	unix.SYS_SHMGET, unix.SYS_SHUTDOWN, unix.SYS_SIGALTSTACK, unix.SYS_SIGNALFD4, unix.SYS_SOCKETPAIR,
	unix.SYS_SPLICE, unix.SYS_STATFS, unix.SYS_STATX, unix.SYS_SYMLINKAT, unix.SYS_SYNC, unix.SYS_SYNC_FILE_RANGE,
	unix.SYS_SYNCFS, unix.SYS_SYSINFO, unix.SYS_TEE, unix.SYS_TGKILL, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_DELETE,
	unix.SYS_TIMER_GETOVERRUN, unix.SYS_TIMER_GETTIME, unix.SYS_TIMER_SETTIME, unix.SYS_TIMERFD_CREATE,
	unix.SYS_TIMERFD_GETTIME, unix.SYS_TIMERFD_SETTIME, unix.SYS_TIMES, unix.SYS_TKILL, unix.SYS_TRUNCATE,
	unix.SYS_UMASK, unix.SYS_UNAME, unix.SYS_UNLINKAT, unix.SYS_UTIMENSAT, unix.SYS_VMSPLICE, unix.SYS_WAIT4,
	unix.SYS_WAITID, unix.SYS_WRITE, unix.SYS_WRITEV,
}

// forbiddenCalls fail with EPERM instead: with ENOSYS, programs would assume an old kernel and try worse ways.
var forbiddenCalls = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_CHROOT, unix.SYS_BPF,
	unix.SYS_PERF_EVENT_OPEN, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
}

// newNamespaces are the flags of clone that create a namespace.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// socketFamilies are the allowed address families. Others, such as AF_VSOCK, bypass the network namespace.
var socketFamilies = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// auditArches are the supported architectures, by the kernel's names.
var auditArches = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// x32Bit marks system calls of amd64's x32 ABI.
const x32Bit = 0x40000000

// Offsets in struct seccomp_data of linux/seccomp.h.
const (
	atCall = 0
	atArch = 4
	atArg0 = 16
)

// seccompFilter returns the filter for bubblewrap's --seccomp: an array of struct sock_filter. Calls that are not
// allowed fail; no process is killed.
func seccompFilter() ([]byte, error) {
	arch, known := auditArches[runtime.GOARCH]
	if !known {
		return nil, fmt.Errorf("system calls can't be filtered on %s; it works on amd64 and arm64", runtime.GOARCH)
	}
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		least = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		bits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		ret   = unix.BPF_RET | unix.BPF_K
	)
	fail := func(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }
	program := []unix.SockFilter{
		{Code: load, K: atArch},
		{Code: equal, Jt: 1, K: arch},
		{Code: ret, K: fail(unix.ENOSYS)},
		{Code: load, K: atCall},
		{Code: least, Jf: 1, K: x32Bit},
		{Code: ret, K: fail(unix.ENOSYS)},

		{Code: equal, Jf: 4, K: unix.SYS_CLONE},
		{Code: load, K: atArg0}, // the flags, on both architectures
		{Code: bits, Jf: 1, K: newNamespaces},
		{Code: ret, K: fail(unix.EPERM)},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},

		{Code: equal, Jf: uint8(len(socketFamilies) + 3), K: unix.SYS_SOCKET},
		{Code: load, K: atArg0},
	}
	for i, f := range socketFamilies {
		program = append(program, unix.SockFilter{Code: equal, Jt: uint8(len(socketFamilies) - i), K: f})
	}
	program = append(program, unix.SockFilter{Code: ret, K: fail(unix.EAFNOSUPPORT)},
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
	verdict := func(calls []uint32, k uint32) {
		for _, call := range calls {
			program = append(program, unix.SockFilter{Code: equal, Jf: 1, K: call}, unix.SockFilter{Code: ret, K: k})
		}
	}
	verdict(allowedCalls, unix.SECCOMP_RET_ALLOW)
	verdict(legacyCalls, unix.SECCOMP_RET_ALLOW)
	verdict(forbiddenCalls, fail(unix.EPERM))
	program = append(program, unix.SockFilter{Code: ret, K: fail(unix.ENOSYS)})
	var b bytes.Buffer
	if err := binary.Write(&b, binary.NativeEndian, program); err != nil {
		return nil, fmt.Errorf("encode the filter of system calls: %w", err)
	}
	return b.Bytes(), nil
}
