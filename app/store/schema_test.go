package store_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store/storetest"
)

// Both databases have the same tables, with the same columns, keys and indexes.
func TestSchemasAreAlike(t *testing.T) {
	ours := ` name NOT LIKE 'sqlite_%' AND name NOT LIKE 'river_%' AND name NOT LIKE 'goose_%'`
	lite := schemaLines(t, storetest.Raw(t, storetest.SQLite(t)),
		`SELECT m.name, c.name, lower(c.type), c."notnull" OR c.pk > 0, c.dflt_value, c.pk
			FROM (SELECT name FROM sqlite_master WHERE type = 'table' AND`+ours+`) m JOIN pragma_table_info(m.name) c`,
		`SELECT m.name, f."from", f."table", f."to", lower(f.on_delete), ''
			FROM (SELECT name FROM sqlite_master WHERE type = 'table' AND`+ours+`) m JOIN pragma_foreign_key_list(m.name) f`,
		`SELECT tbl_name, name, sql LIKE 'CREATE UNIQUE%', '', '', '' FROM sqlite_master
			WHERE type = 'index' AND`+ours)
	ours = strings.ReplaceAll(ours, "name", "c.relname") + ` AND c.relnamespace = current_schema()::regnamespace`
	postgres := schemaLines(t, storetest.Raw(t, storetest.Postgres(t)),
		`SELECT c.relname, a.attname, format_type(a.atttypid, NULL), CAST(a.attnotnull AS int),
			split_part(pg_get_expr(d.adbin, d.adrelid), '::', 1), coalesce(array_position(k.indkey::int2[], a.attnum) + 1, 0)
			FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
			LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
			LEFT JOIN pg_index k ON k.indrelid = c.oid AND k.indisprimary
			WHERE c.relkind = 'r' AND a.attname <> 'rowid' AND`+ours,
		`SELECT c.relname, a.attname, p.relname, b.attname, CASE f.confdeltype WHEN 'c' THEN 'cascade' ELSE 'no action' END,
			''
			FROM pg_class c JOIN pg_constraint f ON f.conrelid = c.oid AND f.contype = 'f'
			JOIN pg_class p ON p.oid = f.confrelid
			JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = f.conkey[1]
			JOIN pg_attribute b ON b.attrelid = p.oid AND b.attnum = f.confkey[1] WHERE`+ours,
		`SELECT c.relname, i.relname, CAST(k.indisunique AS int), '', '', '' FROM pg_class c
			JOIN pg_index k ON k.indrelid = c.oid JOIN pg_class i ON i.oid = k.indexrelid
			WHERE NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = i.oid) AND`+ours)
	if d := cmp.Diff(lite, postgres); d != "" || len(lite) < 300 {
		t.Errorf("of %d lines: %s", len(lite), d)
	}
}

// schemaLines describes tables, columns and indexes, with SQLite's names of types.
func schemaLines(t *testing.T, db *sql.DB, queries ...string) (lines []string) {
	t.Helper()
	types := strings.NewReplacer("bigint", "integer", "bytea", "blob", "double precision", "real")
	for _, query := range queries {
		rows, err := db.QueryContext(t.Context(), query)
		must(t, err)
		for rows.Next() {
			var s [6]sql.NullString
			must(t, rows.Scan(&s[0], &s[1], &s[2], &s[3], &s[4], &s[5]))
			lines = append(lines, types.Replace(fmt.Sprint(s[0].String, ".", s[1].String, " ", s[2].String, " ", s[3].String,
				" ", s[4].String, " ", s[5].String)))
		}
		must(t, rows.Err())
		must(t, rows.Close())
	}
	slices.Sort(lines)
	return lines
}
