package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/failure"
)

// logBytes is the size of the log that is read.
const logBytes = 200 << 20

// benchLog is a part of a job's log as GitHub Actions writes it: mostly progress, with one failing test.
var benchLog = strings.Repeat("2031-02-03T10:00:01.0000000Z [12/440] Compiling \x1b[32mshop\x1b[0m v0.3.1 "+
	"(/home/runner/work/shop/shop) in 12 ms\n"+
	"2031-02-03T10:00:01.1000000Z ok  \texample.com/shop/cart\t0.012s\n", 2000) +
	"2031-02-03T10:00:02.0000000Z --- FAIL: TestTotal (0.00s)\n" +
	"2031-02-03T10:00:02.0000000Z     cart_test.go:12: total is 41, want 42\n" +
	"2031-02-03T10:00:02.0000000Z FAIL\n"

// heapWatch is a reader that samples the heap every 16 MiB.
type heapWatch struct {
	io.Reader
	peak uint64
	left int // bytes until the next sample
}

func (r *heapWatch) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.left -= n; r.left <= 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		r.peak, r.left = max(r.peak, m.HeapAlloc), 16<<20
	}
	return n, err
}

// log measures how fast a long log is read, compared with a search for the usual keywords.
func (c *benchMachineCmd) log(e *cli.Env) ([]cli.Figure, error) {
	fmt.Fprintf(e.Err, "log: %d MB…\n", logBytes>>20)
	runtime.GC()
	src := &heapWatch{Reader: io.LimitReader(&repeatedText{text: benchLog}, logBytes)}
	began := time.Now()
	if _, err := failure.Read(e.Ctx, src, failure.Options{}); err != nil {
		return nil, err
	}
	ours := float64(logBytes) / 1e6 / time.Since(began).Seconds()

	words := regexp.MustCompile(`(?i)error|fail|fatal|exception|panic|undefined`)
	began = time.Now()
	lines := bufio.NewScanner(io.LimitReader(&repeatedText{text: benchLog}, logBytes))
	for lines.Scan() {
		words.Match(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	search := float64(logBytes) / 1e6 / time.Since(began).Seconds()
	return []cli.Figure{
		cli.Measured("log: excerpt, signature and class", ours, "MB/s", "≥ 50", fmt.Sprintf("%d MB, one core", logBytes>>20)),
		cli.Measured("log: keyword search, for comparison", search, "MB/s", "",
			"six words, case ignored; no excerpt, signature or class"),
		cli.Measured("log: peak heap", float64(src.peak)/1e6, "MB", "", "flat: the log is streamed"),
	}, nil
}
