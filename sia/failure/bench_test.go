package failure

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// sample returns a log that is mostly progress output, like real logs, with the logs of the golden files in between.
func sample(tb testing.TB) string {
	tb.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		tb.Fatal(err)
	}
	quiet := strings.Repeat("2031-02-03T10:00:01.0000000Z [12/440] Compiling \x1b[32mshop\x1b[0m v0.3.1 "+
		"(/home/runner/work/shop/shop) in 12 ms\n", 400)
	var b strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for _, f := range txtar.Parse(data).Files {
			if strings.HasSuffix(f.Name, ".log") {
				b.WriteString(quiet)
				b.Write(f.Data)
			}
		}
	}
	return b.String()
}

// BenchmarkRead reads logs of 16 MiB. The goal is 50 MB/s on one core.
func BenchmarkRead(b *testing.B) {
	piece := sample(b)
	const size = 16 << 20
	b.SetBytes(size)
	for b.Loop() {
		if _, err := Read(b.Context(), repeat(piece, size), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// watched is a reader that calls look from time to time.
type watched struct {
	io.Reader
	every, seen int
	look        func()
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if w.seen += n; w.seen >= w.every {
		w.seen = 0
		w.look()
	}
	return n, err
}

// BenchmarkLines reads logs of one repeated short line, which take the most time per byte.
func BenchmarkLines(b *testing.B) {
	const size = 4 << 20
	for name, piece := range map[string]string{
		"blank":           "\n",
		"short":           "ok\n",
		"errors":          "error\n",
		"error messages":  "error: no such file: cart.go\n",
		"failed tests":    "--- FAIL: TestA (0.00s)\n    a_test.go:1: no\n",
		"found by a rule": "cart.c:12:3: error: tax undeclared\n",
		"network":         "curl: (6) Could not resolve host: example.com\n",
		"results":         "2 tests failed\n",
		"progress":        strings.Repeat("\r", 1000) + "\n",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(b.Context(), repeat(strings.Repeat(piece, 4096), size), Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
