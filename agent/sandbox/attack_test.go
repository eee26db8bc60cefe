//go:build linux

package sandbox_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attackScript runs inside a sandbox, as a hostile program, and prints a line that begins with BROKE for everything
// that should have failed. Its arguments are the targets: a TCP port, an abstract socket and a process of the host.
func attackScript() {
	port, abstract, pid := os.Args[2], os.Args[3], os.Args[4]
	broke := func(what string, err error) {
		if err == nil {
			fmt.Println("BROKE", what)
		}
	}
	dial := func(network, address string) error {
		c, err := net.DialTimeout(network, address, time.Second)
		if err == nil {
			c.Close()
		}
		return err
	}
	broke("tcp to the host's loopback", dial("tcp", "127.0.0.1:"+port))
	broke("tcp to the host's loopback, v6", dial("tcp", "[::1]:"+port))
	broke("tcp to a cloud's metadata", dial("tcp", "169.254.169.254:80"))
	broke("tcp to the internet", dial("tcp", "1.1.1.1:443"))
	broke("an abstract socket of the host", dial("unix", "@"+abstract))
	if names, err := net.LookupHost("example.com"); err == nil {
		fmt.Println("BROKE name service", names)
	}
	if ifs, err := net.Interfaces(); err == nil {
		for _, i := range ifs {
			if i.Flags&net.FlagLoopback == 0 {
				fmt.Println("BROKE there is a network interface", i.Name)
			}
		}
	}
	for name, family := range map[string]int{"vsock": unix.AF_VSOCK, "packet": unix.AF_PACKET, "alg": unix.AF_ALG,
		"bluetooth": unix.AF_BLUETOOTH} {
		fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
		if family == unix.AF_ALG || family == unix.AF_PACKET {
			fd, err = unix.Socket(family, unix.SOCK_RAW, 0)
		}
		if err == nil {
			unix.Close(fd)
		}
		broke("a socket of the family "+name, err)
	}
	_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
	broke("the key ring of the session", err)
	_, err = unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true)
	broke("the key ring of the user", err)
	broke("a new user namespace", unix.Unshare(unix.CLONE_NEWUSER))
	broke("a new mount namespace", unix.Unshare(unix.CLONE_NEWNS))
	broke("mount", unix.Mount("none", "/tmp", "tmpfs", 0, ""))
	broke("remounting the system", unix.Mount("none", "/usr", "", unix.MS_REMOUNT|unix.MS_BIND, ""))
	broke("unmount", unix.Unmount("/workspace", unix.MNT_DETACH))
	broke("chroot", unix.Chroot("/tmp"))
	broke("becoming root", syscall.Setuid(0))
	broke("another group", syscall.Setgid(0))
	broke("the host's name", unix.Sethostname([]byte("x")))
	broke("a device", unix.Mknod("/tmp/disk", unix.S_IFBLK|0o600, int(unix.Mkdev(254, 0))))
	params := make([]byte, 120)
	if _, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params[0])), 0); e == 0 {
		fmt.Println("BROKE io_uring")
	}
	if _, _, e := unix.Syscall(unix.SYS_BPF, 0, 0, 0); e != unix.EPERM {
		fmt.Println("BROKE bpf", e)
	}
	for name, call := range map[string]uintptr{"kcmp": unix.SYS_KCMP, "statmount": unix.SYS_STATMOUNT,
		"listmount": unix.SYS_LISTMOUNT, "reading another's memory": unix.SYS_PROCESS_VM_READV, "clone3": unix.SYS_CLONE3,
		"taking a descriptor": unix.SYS_PIDFD_GETFD, "a handle of a file": unix.SYS_OPEN_BY_HANDLE_AT,
		"user faults": unix.SYS_USERFAULTFD, "another root": unix.SYS_OPEN_TREE, "a new kernel": unix.SYS_KEXEC_LOAD,
		"a module": unix.SYS_FINIT_MODULE, "the kernel's log": unix.SYS_SYSLOG, "swap": unix.SYS_SWAPON,
		"pages of others": unix.SYS_MOVE_PAGES, "quota": unix.SYS_QUOTACTL, "secret memory": unix.SYS_MEMFD_SECRET} {
		if _, _, e := unix.Syscall6(call, 0, 0, 0, 0, 0, 0); e != unix.ENOSYS && e != unix.EPERM {
			fmt.Println("BROKE", name, e)
		}
	}
	for call := uintptr(470); call < 1000; call++ { // calls of later kernels
		if _, _, e := unix.RawSyscall6(call, 0, 0, 0, 0, 0, 0); e != unix.ENOSYS {
			fmt.Println("BROKE system call", call, e)
		}
	}
	if f, err := os.OpenFile("/proc/self/oom_score_adj", os.O_WRONLY, 0); err == nil {
		if _, err := f.WriteString("-1000"); err == nil {
			fmt.Println("BROKE others are killed first when memory is short")
		}
		f.Close()
	}
	if _, err := clone(unix.CLONE_NEWUSER | uintptr(unix.SIGCHLD)); err == nil {
		fmt.Println("BROKE a child in a new user namespace")
	}
	n, _ := strconv.Atoi(pid)
	broke("a signal to a process of the host", unix.Kill(n, 0))
	broke("tracing a process of the host", unix.PtraceSeize(n))
	broke("reading a process of the host", readMemory(n))
	if tty, err := os.Open("/dev/tty"); err == nil {
		broke("typing into the terminal", unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCSTI, 'x'))
	}
	fmt.Println("attacked")
}

// clone tries to create a child and ends it immediately.
func clone(flags uintptr) (int, error) {
	pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, flags, 0, 0, 0, 0, 0)
	if e != 0 {
		return 0, e
	}
	if pid == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return int(pid), nil
}

func readMemory(pid int) error {
	b := make([]byte, 8)
	_, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &b[0], Len: 8}}, []unix.RemoteIovec{{Base: 0x400000, Len: 8}},
		0)
	return err
}

// nestFolders creates nested folders, up to the number in its argument.
func nestFolders() {
	n, _ := strconv.Atoi(os.Args[2])
	for range n {
		if unix.Mkdir("d", 0o755) != nil || unix.Chdir("d") != nil {
			break
		}
	}
	fmt.Println("dug")
}

// openConnections opens connections to a server, and then sends a request on each. It prints the number of responses.
func openConnections() {
	n, _ := strconv.Atoi(os.Args[3])
	var all []net.Conn
	for range n {
		if c, err := net.Dial("tcp", os.Args[2]); err == nil {
			all = append(all, c)
		}
	}
	var answered atomic.Int32
	var asking sync.WaitGroup
	for _, c := range all {
		asking.Go(func() {
			_ = c.SetDeadline(time.Now().Add(10 * time.Second))
			_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			if m, _ := c.Read(make([]byte, 1)); m > 0 {
				answered.Add(1)
			}
		})
	}
	asking.Wait()
	fmt.Println(answered.Load(), "are open")
}
