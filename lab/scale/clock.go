package scale

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// clockVariable configures a program that [stage.withClock] built: the seconds by which its clock is ahead of the
// machine's.
const clockVariable = "SIALAB_CLOCK"

// The system can't give a process another clock, since Go programs read the clock without a system call. So
// the program is built with a changed function that reads the clock.
const (
	nowReads = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	nowAdds  = "var sialabClock, _ = func() (int, error) { v, _ := syscall.Getenv(%q); return atoi(v) }()\n\n" +
		nowReads + "\tsec += int64(sialabClock)\n"
)

// withClock builds sia with a clock that can be wrong, and returns the program. It needs Go and this repository.
func (s *stage) withClock(ctx context.Context) (program string, err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find Go's source: %w", err)
	}
	file := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	source, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	text := strings.Replace(string(source), nowReads, fmt.Sprintf(nowAdds, clockVariable), 1)
	text = strings.Replace(text, "import (\n", "import (\n\t\"syscall\"\n", 1)
	if !strings.Contains(text, clockVariable) {
		return "", errors.New("this version of Go reads the clock in another way: change lab/scale/clock.go, or leave out " +
			"--clocks")
	}
	dir := filepath.Join(s.dir, "clock")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: filepath.Join(dir, "time.go")}})
	if err := errors.Join(err,
		os.Mkdir(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "time.go"), []byte(text), 0o600),
		os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600),
	); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "sia")
	build := exec.CommandContext(ctx, "go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program,
		"./cmd/sia")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build sia with a clock that can be wrong: %w\n%s", err, out)
	}
	return program, nil
}

// clockOf returns the clock setting of the n-th server or runner: alternately ahead and behind.
func (c Config) clockOf(n int) string {
	off := c.Clocks
	if n%2 == 1 {
		off = -off
	}
	return fmt.Sprintf("%s=%d", clockVariable, off/time.Second)
}
