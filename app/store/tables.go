package store

import (
	"context"
	"slices"
	"strings"
)

// table describes one of SIA's tables.
type table struct {
	name    string
	columns []column
	keys    []string // columns of the primary key
	rowid   bool     // rows are numbered by rowid, unless their key is a number
}

// column describes a column of a table.
type column struct{ name, kind string }

// isNumber reports whether a column has integers.
func (c column) isNumber() bool { return c.kind == "integer" || c.kind == "bigint" }

// isPacked reports whether a column has packed texts.
func (c column) isPacked() bool { return c.kind == "blob" || c.kind == "bytea" }

// number returns the column that numbers the rows in the order in which they were written; empty: there is none.
func (t table) number() string {
	i := slices.IndexFunc(t.columns, func(c column) bool { return c.name == t.keys[0] })
	switch {
	case len(t.keys) == 1 && t.columns[i].isNumber():
		return t.keys[0]
	case t.rowid:
		return "rowid"
	}
	return ""
}

// names returns the names of the columns, as a list for SQL.
func (t table) names() string {
	var all []string
	for _, c := range t.columns {
		all = append(all, c.name)
	}
	return strings.Join(all, ", ")
}

// tables lists the tables by name.
func (s *DB) tables(ctx context.Context, q querier) (tables []table, err error) {
	type cell struct {
		table string
		column
		key   int // its place in the primary key, from 1; 0: none
		rowid bool
	}
	all, err := collect(ctx, q, func(from row) (c cell, err error) {
		err = from.Scan(&c.table, &c.name, &c.kind, &c.key, &c.rowid)
		return c, err
	}, s.columnsQuery())
	for i := 0; i < len(all); {
		t := table{name: all[i].table, rowid: all[i].rowid}
		keys := map[int]string{}
		for ; i < len(all) && all[i].table == t.name; i++ {
			t.columns = append(t.columns, all[i].column)
			if all[i].key > 0 {
				keys[all[i].key] = all[i].name
			}
		}
		for place := 1; place <= len(keys); place++ {
			t.keys = append(t.keys, keys[place])
		}
		tables = append(tables, t)
	}
	return tables, err
}
