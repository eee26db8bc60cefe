package benchtask

import (
	"bufio"
	"context"
	"io"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/failure"
)

// LogBytes is the size of the log that ReadLog reads.
const LogBytes = 200 << 20

// logText is a part of a job's log as GitHub Actions writes it: mostly progress, with one failing test.
var logText = strings.Repeat("2031-02-03T10:00:01.0000000Z [12/440] Compiling \x1b[32mshop\x1b[0m v0.3.1 "+
	"(/home/runner/work/shop/shop) in 12 ms\n"+
	"2031-02-03T10:00:01.1000000Z ok  \texample.com/shop/cart\t0.012s\n", 2000) +
	"2031-02-03T10:00:02.0000000Z --- FAIL: TestTotal (0.00s)\n" +
	"2031-02-03T10:00:02.0000000Z     cart_test.go:12: total is 41, want 42\n" +
	"2031-02-03T10:00:02.0000000Z FAIL\n"

// Repeat returns a reader that repeats a text until it has returned size bytes.
func Repeat(text string, size int64) io.Reader { return io.LimitReader(&repeated{text: text}, size) }

// repeated is a reader that repeats a text endlessly.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

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

// Reading is what reading a log took.
type Reading struct {
	Took, Search time.Duration // by SIA, and by a search for the usual keywords
	PeakHeap     uint64        // bytes, by SIA
}

// ReadLog measures how fast a long log is read, compared with a search for the usual keywords.
func ReadLog(ctx context.Context) (r Reading, err error) {
	runtime.GC()
	src := &heapWatch{Reader: Repeat(logText, LogBytes)}
	began := time.Now()
	if _, err := failure.Read(ctx, src, failure.Options{}); err != nil {
		return r, err
	}
	r.Took, r.PeakHeap = time.Since(began), src.peak

	words := regexp.MustCompile(`(?i)error|fail|fatal|exception|panic|undefined`)
	began = time.Now()
	lines := bufio.NewScanner(Repeat(logText, LogBytes))
	for lines.Scan() {
		words.Match(lines.Bytes())
	}
	r.Search = time.Since(began)
	return r, lines.Err()
}
