package yamlfile

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
)

const maxMerges = 10 // mappings merged into one another; one may name itself

// plain returns the node that an alias stands for, without anchor and tag. If the form is strict, it returns n.
func (f *File) plain(n ast.Node) ast.Node {
	if !f.form.Lenient {
		return n
	}
	if alias, ok := n.(*ast.AliasNode); ok {
		for _, a := range ast.Filter(ast.AnchorType, f.body) { // the last one of that name above it
			anchor, ok := a.(*ast.AnchorNode)
			if ok && anchor.Name.GetToken().Value == alias.Value.GetToken().Value &&
				anchor.Start.Position.Offset < alias.Start.Position.Offset {
				n = anchor.Value
			}
		}
	}
	for {
		switch v := n.(type) {
		case *ast.AnchorNode:
			n = v.Value
		case *ast.TagNode:
			n = v.Value
		default:
			return n
		}
	}
}

// pairs returns the entries of a mapping, then those that it merges from others, without those that it has itself.
func (f *File) pairs(n ast.Node, depth int) (all []*ast.MappingValueNode) {
	var merged []*ast.MappingValueNode
	for _, v := range Entries(f.plain(n)) {
		if _, merge := v.Key.(*ast.MergeKeyNode); !merge || !f.form.Lenient || depth == 0 {
			all = append(all, v)
			continue
		}
		from := []ast.Node{v.Value}
		if list, ok := f.plain(v.Value).(*ast.SequenceNode); ok {
			from = list.Values
		}
		for _, one := range from {
			merged = append(merged, f.pairs(one, depth-1)...)
		}
	}
	for _, m := range merged {
		if !slices.ContainsFunc(all, func(v *ast.MappingValueNode) bool { return keyOf(v) == keyOf(m) }) {
			all = append(all, m)
		}
	}
	return all
}

func keyOf(v *ast.MappingValueNode) string { return v.Key.GetToken().Value }

// scalar returns the value of a text node and whether n is one. If the form is lenient, a number and a truth value are
// one, too, as they are written.
func (f *File) scalar(n ast.Node) (string, bool) {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, f.form.Lenient
	}
	return textOf(n)
}
