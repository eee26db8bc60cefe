package sandbox

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// errPrinted ends a command that prints without end.
var errPrinted = errors.New("too much output")

// boundedOutput keeps the beginning and the end of what is written to it, passes all of
// it on, and refuses more than most bytes.
type boundedOutput struct {
	keep int   // bytes kept at each end
	most int64 // bytes taken in all
	pass io.Writer

	head  []byte
	tail  []byte // the last keep bytes are kept; those before them go when there are as many again
	total int64
}

func newOutput(keep int, most int64, pass io.Writer) *boundedOutput {
	return &boundedOutput{keep: max(1, keep/2), most: most, pass: pass}
}

// Write takes p, or what is still allowed of it.
func (o *boundedOutput) Write(p []byte) (int, error) {
	part := p[:min(int64(len(p)), o.most-o.total)]
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

// bytes is what was kept, cut at whole characters.
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
