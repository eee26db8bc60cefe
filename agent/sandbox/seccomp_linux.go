package sandbox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// deniedCalls are system calls that no build needs. They reach what namespaces don't
// separate, or have led out of many sandboxes. The kernel's key rings belong to the
// whole machine. No filter sees the operations of io_uring. The others ask for a
// capability that a command doesn't have anyway.
// https://docs.docker.com/engine/security/seccomp/ lists more of them with reasons.
var deniedCalls = []uint32{
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_NAME_TO_HANDLE_AT,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_CHROOT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
	unix.SYS_MOUNT_SETATTR,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_SYSLOG,
	unix.SYS_VHANGUP,
	unix.SYS_LOOKUP_DCOOKIE, unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
}

// socketFamilies are the kinds of socket there may be. Others, such as AF_VSOCK, reach
// past the network namespace.
var socketFamilies = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// auditArches are the architectures whose calls are known, as the kernel names them.
var auditArches = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// x32Bit marks the calls of amd64's second, narrower interface.
const x32Bit = 0x40000000

// Where the filter finds things, in struct seccomp_data of linux/seccomp.h.
const (
	atCall = 0
	atArch = 4
	atArg0 = 16
)

// seccompFilter is the filter as a program for bubblewrap's --seccomp: an array of
// struct sock_filter. What is denied fails with EPERM or ENOSYS; nothing is killed.
func seccompFilter() ([]byte, error) {
	arch, known := auditArches[runtime.GOARCH]
	if !known {
		return nil, fmt.Errorf("system calls can't be filtered on %s; it works on amd64 and arm64", runtime.GOARCH)
	}
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		least = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		ret   = unix.BPF_RET | unix.BPF_K
	)
	fail := func(errno uint32) uint32 { return unix.SECCOMP_RET_ERRNO | errno }
	program := []unix.SockFilter{
		{Code: load, K: atArch},
		{Code: equal, Jt: 1, K: arch},
		{Code: ret, K: fail(uint32(unix.ENOSYS))},
		{Code: load, K: atCall},
		{Code: least, Jf: 1, K: x32Bit},
		{Code: ret, K: fail(uint32(unix.ENOSYS))},
	}
	for _, call := range deniedCalls {
		errno := uint32(unix.EPERM)
		if call == unix.SYS_IO_URING_SETUP {
			errno = uint32(unix.ENOSYS) // programs then do without
		}
		program = append(program, unix.SockFilter{Code: equal, Jf: 1, K: call}, unix.SockFilter{Code: ret, K: fail(errno)})
	}
	program = append(program, unix.SockFilter{Code: equal, Jf: uint8(len(socketFamilies) + 2), K: unix.SYS_SOCKET},
		unix.SockFilter{Code: load, K: atArg0})
	for i, f := range socketFamilies {
		program = append(program, unix.SockFilter{Code: equal, Jt: uint8(len(socketFamilies) - i), K: f})
	}
	program = append(program, unix.SockFilter{Code: ret, K: fail(uint32(unix.EAFNOSUPPORT))},
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
	var b bytes.Buffer
	if err := binary.Write(&b, binary.NativeEndian, program); err != nil {
		return nil, fmt.Errorf("encode the filter of system calls: %w", err)
	}
	return b.Bytes(), nil
}
