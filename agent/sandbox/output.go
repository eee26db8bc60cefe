package sandbox

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// errPrinted ends a command that prints too much.
var errPrinted = errors.New("too much output")

// boundedOutput keeps the start and the end of the data written to it, passes on all of it, and fails beyond limit
// bytes.
type boundedOutput struct {
	keep  int   // bytes to keep at each end
	limit int64 // maximum total, in bytes
	pass  io.Writer

	head  []byte
	tail  []byte // at least the last keep bytes; truncated when twice as long
	total int64
}

func newOutput(keep int, limit int64, pass io.Writer) *boundedOutput {
	return &boundedOutput{keep: max(1, keep/2), limit: limit, pass: pass}
}

// Write accepts p, up to the limit.
func (o *boundedOutput) Write(p []byte) (int, error) {
	part := p[:min(int64(len(p)), o.limit-o.total)]
	o.total += int64(len(part))
	if o.pass != nil {
		if _, err := o.pass.Write(part); err != nil {
			return 0, fmt.Errorf("pass output on: %w", err)
		}
	}
	first := min(o.keep-len(o.head), len(part))
	o.head = append(o.head, part[:first]...)
	if o.tail = append(o.tail, part[first:]...); len(o.tail) > 2*o.keep {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-o.keep:]...)
	}
	if len(part) < len(p) {
		return len(part), errPrinted
	}
	return len(p), nil
}

// bytes returns the kept data, cut at whole characters.
func (o *boundedOutput) bytes() []byte {
	head, tail := o.head, o.tail[max(0, len(o.tail)-o.keep):]
	if o.total == int64(len(head)+len(tail)) {
		return slices.Concat(head, tail)
	}
	for i := 0; i < utf8.UTFMax && len(head) > 0; i++ {
		if r, size := utf8.DecodeLastRune(head); r != utf8.RuneError || size != 1 {
			break
		}
		head = head[:len(head)-1]
	}
	for i := 0; i < utf8.UTFMax && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	gap := fmt.Sprintf("\n[%d bytes of output left out]\n", o.total-int64(len(head)+len(tail)))
	return slices.Concat(head, []byte(gap), tail)
}
