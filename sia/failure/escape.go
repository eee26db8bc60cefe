package failure

import "bytes"

// escapeLength returns the length of the escape sequence that b begins with (ECMA-48: CSI and OSC, else two bytes), and
// reports whether it sets a red foreground or background.
func escapeLength(b []byte) (n int, red bool) {
	if len(b) < 2 {
		return len(b), false
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1, b[i] == 'm' && isRed(b[2:i])
			}
			if b[i] < 0x20 {
				return i, false
			}
		}
		return len(b), false
	case ']':
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 {
				return i + 1, false
			}
			if b[i] == 0x1b {
				if i+1 < len(b) && b[i+1] == '\\' {
					return i + 2, false
				}
				return i, false
			}
		}
		return len(b), false
	default:
		return 2, false
	}
}

// isRed reports whether a colour sequence has 31, 41 or 91 as a parameter of its own, not within an extended colour.
func isRed(p []byte) bool {
	if bytes.HasPrefix(p, []byte("38;")) || bytes.HasPrefix(p, []byte("48;")) {
		return false
	}
	for len(p) > 0 {
		var one []byte
		one, p, _ = bytes.Cut(p, []byte(";"))
		if len(one) == 2 && one[1] == '1' && (one[0] == '3' || one[0] == '4' || one[0] == '9') {
			return true
		}
	}
	return false
}
