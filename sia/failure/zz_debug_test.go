package failure

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func dbg(p string) *reader {
	f, _ := os.Open(p)
	defer f.Close()
	g, _ := gzip.NewReader(f)
	rd := newReader()
	lines := newLineReader(g)
	for {
		raw, n, err := lines.next()
		if err == io.EOF {
			break
		}
		rd.take(raw, n)
	}
	rd.close()
	return rd
}
func TestDebug(t *testing.T) {
	p := os.Getenv("DEBUGLOG")
	if p == "" {
		return
	}
	rd := dbg(p)
	slices.SortFunc(rd.kept, func(a, b *block) int {
		if rd.rank(a) > rd.rank(b) {
			return -1
		}
		if rd.rank(a) < rd.rank(b) {
			return 1
		}
		return 0
	})
	for i, b := range rd.kept {
		if i > 25 {
			break
		}
		l := ""
		if b.lift != nil {
			l = b.lift.name
		}
		in := ""
		if b.inner != nil {
			in = b.inner.name
		}
		fmt.Printf("%6.1f %d-%d step=%d failed=%v far=%d score=%.0f res=%v expl=%v [%s] lift=%s inner=%s | %.100s\n", rd.rank(b), b.start, b.end, b.step, b.failed, b.far, b.score, b.result, b.explains, b.rule.name, l, in, b.lines()[0].text)
	}
	fmt.Println(rd.ended, rd.step, rd.total)
	fmt.Println(rd.report(Options{}).Text)
	fmt.Println(rd.report(Options{}).Why)
}
func TestSig(t *testing.T) {
	out := os.Getenv("SIGOUT")
	if out == "" {
		return
	}
	w, _ := os.Create(out)
	defer w.Close()
	fs, _ := filepath.Glob("/work/shared/data/cilogs/logchunks/*.gz")
	f2, _ := filepath.Glob("/work/shared/data/cilogs/cidiff/*.gz")
	fs = append(fs, f2...)
	for _, p := range fs {
		rd := dbg(p)
		c := rd.choose()
		if c.best == nil && len(rd.ended) > 0 {
			c.best = rd.ending()
			c.alike = []*block{c.best}
		}
		var m []string
		if c.best != nil {
			m = meaning(c.explaining())
		}
		b, _ := json.Marshal(map[string]any{"p": p, "m": m})
		w.Write(append(b, '\n'))
	}
}
