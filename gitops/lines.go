package gitops

// lineSpan is a run of changed lines: old[a:b] became new[c:d].
type lineSpan struct{ a, b, c, d int }

// maxEdits bounds the search for the shortest edit. Beyond it, the rest of the part is reported as replaced, which is
// correct but not shortest.
const maxEdits = 4000

// diffLines finds which lines changed, by the linear-space variant of
// E. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986.
func diffLines(old, new []string) []lineSpan {
	ids := make(map[string]int, len(old))
	number := func(lines []string) []int {
		out := make([]int, len(lines))
		for i, l := range lines {
			id, ok := ids[l]
			if !ok {
				id = len(ids)
				ids[l] = id
			}
			out[i] = id
		}
		return out
	}
	m := myersSearch{a: number(old), b: number(new), budget: maxEdits}
	size := 2*min(len(old)+len(new), 2*maxEdits+2) + 5
	m.fwd, m.bwd = make([]int, size), make([]int, size)
	m.solve(0, len(old), 0, len(new))
	return m.out
}

type myersSearch struct {
	a, b     []int
	fwd, bwd []int // furthest positions in a by diagonal, from the start and the end
	budget   int   // edits that may still be searched
	out      []lineSpan
}

func (m *myersSearch) emit(a, b, c, d int) {
	if n := len(m.out); n > 0 && m.out[n-1].b == a && m.out[n-1].d == c {
		m.out[n-1].b, m.out[n-1].d = b, d
		return
	}
	m.out = append(m.out, lineSpan{a, b, c, d})
}

// solve reports the changes between a[a0:a1] and b[b0:b1].
func (m *myersSearch) solve(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && m.a[a0] == m.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && m.a[a1-1] == m.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 && b0 == b1 {
		return
	}
	if a0 == a1 || b0 == b1 {
		m.emit(a0, a1, b0, b1)
		return
	}
	x, y, ok := m.middle(a0, a1, b0, b1)
	if !ok || (x == a0 && y == b0) || (x == a1 && y == b1) {
		m.emit(a0, a1, b0, b1)
		return
	}
	m.solve(a0, x, b0, y)
	m.solve(x, a1, y, b1)
}

// middle finds a point on a shortest path, by searching from both ends until
// they meet; ok is false when the budget ran out.
func (m *myersSearch) middle(a0, a1, b0, b1 int) (x, y int, ok bool) {
	n, k := a1-a0, b1-b0
	delta := n - k
	limit := min((n+k+1)/2, m.budget)
	mid := len(m.fwd) / 2
	m.fwd[mid+1], m.bwd[mid+1] = 0, 0
	for d := 0; d <= limit; d++ {
		for diag := -d; diag <= d; diag += 2 {
			x := m.fwd[mid+diag-1] + 1
			if diag == -d || diag != d && m.fwd[mid+diag-1] < m.fwd[mid+diag+1] {
				x = m.fwd[mid+diag+1]
			}
			y := x - diag
			for x < n && y < k && y >= 0 && m.a[a0+x] == m.b[b0+y] {
				x, y = x+1, y+1
			}
			m.fwd[mid+diag] = x
			if back := delta - diag; delta&1 != 0 && back >= -(d-1) && back <= d-1 && x+m.bwd[mid+back] >= n && x <= n &&
				y <= k {
				m.budget -= d
				return a0 + x, b0 + y, true
			}
		}
		for diag := -d; diag <= d; diag += 2 {
			x := m.bwd[mid+diag-1] + 1
			if diag == -d || diag != d && m.bwd[mid+diag-1] < m.bwd[mid+diag+1] {
				x = m.bwd[mid+diag+1]
			}
			y := x - diag
			for x < n && y < k && y >= 0 && m.a[a1-1-x] == m.b[b1-1-y] {
				x, y = x+1, y+1
			}
			m.bwd[mid+diag] = x
			if fore := delta - diag; delta&1 == 0 && fore >= -d && fore <= d && x+m.fwd[mid+fore] >= n && x <= n && y <= k {
				m.budget -= d
				return a1 - x, b1 - y, true
			}
		}
	}
	m.budget = 0
	return 0, 0, false
}
