package sandbox

import (
	"errors"
	"fmt"
	"io"
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
	tail  []byte // ring, once full
	next  int    // where the ring goes on
	total int64
}

func newOutput(keep int, most int64, pass io.Writer) *boundedOutput {
	return &boundedOutput{keep: max(1, keep/2), most: most, pass: pass}
}

// Write takes p, or what is still allowed of it.
func (o *boundedOutput) Write(p []byte) (int, error) {
	n, over := len(p), false
	if left := o.most - o.total; int64(n) > left {
		n, over = int(left), true
	}
	part := p[:n]
	o.total += int64(n)
	if o.pass != nil {
		if _, err := o.pass.Write(part); err != nil {
			return 0, fmt.Errorf("pass output on: %w", err)
		}
	}
	if room := o.keep - len(o.head); room > 0 {
		k := min(room, len(part))
		o.head = append(o.head, part[:k]...)
		part = part[k:]
	}
	if len(part) > o.keep {
		part = part[len(part)-o.keep:]
	}
	if room := o.keep - len(o.tail); room > 0 {
		k := min(room, len(part))
		o.tail = append(o.tail, part[:k]...)
		part = part[k:]
	}
	for len(part) > 0 {
		k := copy(o.tail[o.next:], part)
		o.next = (o.next + k) % o.keep
		part = part[k:]
	}
	if over {
		return n, errPrinted
	}
	return n, nil
}

// bytes is what was kept, cut at whole characters.
func (o *boundedOutput) bytes() []byte {
	tail := append(append([]byte(nil), o.tail[o.next:]...), o.tail[:o.next]...)
	missing := o.total - int64(len(o.head)) - int64(len(tail))
	if missing <= 0 {
		return append(append([]byte(nil), o.head...), tail...)
	}
	head := o.head
	for i := 0; i < utf8.UTFMax && len(head) > 0; i++ {
		if r, size := utf8.DecodeLastRune(head); r != utf8.RuneError || size != 1 {
			break
		}
		head = head[:len(head)-1]
	}
	for i := 0; i < utf8.UTFMax && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	missing = o.total - int64(len(head)) - int64(len(tail))
	gap := fmt.Sprintf("\n[%d bytes of output left out]\n", missing)
	return append(append(append([]byte(nil), head...), gap...), tail...)
}
