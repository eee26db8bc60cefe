// Package m has something to defend.
package m

// Half is half of an even number.
func Half(n int) int {
	if n%2 != 0 {
		return 0
	}
	return n / 2
}

// Ready says when something is.
func Ready() <-chan int {
	c := make(chan int, 1)
	c <- Half(4)
	return c
}
