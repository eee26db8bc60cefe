package llm

import (
	"cmp"
	"slices"
)

// chatCall is a piece of a call as it stands in a chunk.
type chatCall struct {
	Index    *wireNumber // nil: it has none
	ID       string
	Function chatFunction
	chatExtra
}

// chatFunction is what is called.
type chatFunction struct {
	Name      string
	Arguments wireArguments
}

// call takes over a piece of a call.
func (r *chatReader) call(p chatCall) error {
	call, err := r.callOf(p)
	if err != nil {
		return err
	}
	call.name = cmp.Or(call.name, p.Function.Name)
	if p.Function.Arguments != nil {
		r.grown = append(r.grown, call)
		if err := call.add(p.Function.Arguments); err != nil {
			return err
		}
	}
	return r.keep(p.parts(slices.Index(r.calls, call) + 1)...)
}

// callOf is the call that a piece belongs to: that of its index. Servers that don't number
// calls, or number all alike, give each an id of its own, or at least a name. A name that
// comes again for the same call begins none, and neither does an id at another index
// (https://github.com/mudler/LocalAI/issues/9722).
func (r *chatReader) callOf(p chatCall) (call *partialCall, err error) {
	index := len(r.calls) - 1
	switch {
	case p.Index != nil && *p.Index >= 0:
		index = int(*p.Index)
	case p.ID != "" || index < 0:
		index = len(r.calls)
	}
	call = r.byIndex[index]
	for _, c := range r.calls {
		if call == nil && p.ID != "" && c.id == p.ID && !p.begins(c) {
			call = c
		}
	}
	if call == nil || p.begins(call) {
		if call, err = r.newCall(p.ID, ""); err != nil {
			return nil, err
		}
	}
	if r.byIndex == nil {
		r.byIndex = map[int]*partialCall{}
	}
	r.byIndex[index] = call
	call.id = cmp.Or(call.id, p.ID)
	return call, nil
}

// begins reports whether a piece begins another call although its index is call's: it has
// another id and a name. Without a name it goes on, since some servers make up an id for
// each piece.
func (p chatCall) begins(call *partialCall) bool {
	name := p.Function.Name
	switch {
	case name == "" || call.name == "":
		return false
	case p.ID != "" && call.id != "":
		return p.ID != call.id
	}
	return name != call.name // two calls of one tool come apart in splitCalls
}
