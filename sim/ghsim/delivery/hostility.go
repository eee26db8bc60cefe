package delivery

// Drop makes deliveries that match fail without reaching the
// application; they stay in the list of failed deliveries and can be
// redelivered. nil ends it. match must not call the simulator.
func (q *Queue) Drop(match func(Delivery) bool) {
	q.mon.Lock()
	defer q.mon.Unlock()
	q.drop = match
}

// Duplicate makes deliveries that match arrive twice. nil ends it.
// match must not call the simulator.
func (q *Queue) Duplicate(match func(Delivery) bool) {
	q.mon.Lock()
	defer q.mon.Unlock()
	q.duplicate = match
}

// Hold holds back deliveries that match until [Queue.Release]. nil ends it for new ones. match must not call the
// simulator.
func (q *Queue) Hold(match func(Delivery) bool) {
	q.mon.Lock()
	defer q.mon.Unlock()
	q.hold = match
}

// Release sends the held deliveries, in the order of indices that reorder returns; nil keeps the order. It returns how
// many were held.
func (q *Queue) Release(reorder func([]Delivery) []int) int {
	q.mon.Lock()
	defer q.mon.Unlock()
	held := q.held
	q.held = nil
	order := make([]int, len(held))
	ds := make([]Delivery, len(held))
	for i, d := range held {
		order[i], ds[i] = i, *d
	}
	if reorder != nil {
		order = reorder(ds)
	}
	for _, i := range order {
		q.release(held[i])
	}
	return len(held)
}

// Divert passes later deliveries to a function instead of sending them over HTTP, in order, as if the application had
// answered 202. The lock is held while it is called, so it must not call the simulator. nil ends it.
func (q *Queue) Divert(to func(Delivery)) {
	q.mon.Lock()
	defer q.mon.Unlock()
	q.divert = to
}
