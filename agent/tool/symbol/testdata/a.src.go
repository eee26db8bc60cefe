package shop

import "io"

// Max is a bound.
const (
	Max = 3
	min = iota
	_
)

var ErrFull, errEmpty = io.EOF, io.EOF

type Basket[T any] struct {
	items []T
}

type Store interface {
	io.Closer
	Get(id string) (Basket[int], error)
	Put(b Basket[int]) error
}

type ID = string

func New[T any](n int,
	more ...T) *Basket[T] {
	return nil
}

func (b *Basket[T]) Add(t T) { func() {}() }
