package llm

import (
	"cmp"
	"slices"
)

// chatCall is a piece of a call in a chunk.
type chatCall struct {
	Index    *wireNumber // nil: none
	ID       string
	Function chatFunction
	chatExtra
}

// chatFunction is the called function.
type chatFunction struct {
	Name      string
	Arguments wireArguments
}

// call adds a piece of a call.
func (r *chatReader) call(p chatCall) error {
	call, err := r.callOf(p)
	if err != nil {
		return err
	}
	call.name = cmp.Or(call.name, p.Function.Name)
	if p.Function.Arguments != nil {
		r.extended = append(r.extended, call)
		if err := call.add(p.Function.Arguments); err != nil {
			return err
		}
	}
	return r.addOpaque(p.parts(slices.Index(r.calls, call) + 1)...)
}

// callOf returns the call that a piece belongs to, normally by index. Servers that omit the index, or repeat it, give
// each call an ID, or at least a name. A repeated name does not start a new call, nor does a repeated ID at another
// index (https://github.com/mudler/LocalAI/issues/9722) with the same name: some servers give several calls the same ID
// (https://github.com/HKUDS/nanobot/pull/3943). Pieces without a name then belong to the last of them.
func (r *chatReader) callOf(p chatCall) (call *partialCall, err error) {
	index := len(r.calls) - 1
	switch {
	case p.Index != nil && *p.Index >= 0:
		index = int(*p.Index)
	case p.ID != "" || index < 0:
		index = len(r.calls)
	}
	call = r.byIndex[index]
	for _, c := range slices.Backward(r.calls) {
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

// begins reports whether a piece starts a new call despite the index or the ID of call: it has another name, or a name
// and another ID. Without a name it continues the call, since some servers generate an ID for each piece.
func (p chatCall) begins(call *partialCall) bool {
	name := p.Function.Name
	return name != "" && call.name != "" && // splitArguments separates two calls of one tool
		(name != call.name || p.ID != "" && call.id != "" && p.ID != call.id)
}
