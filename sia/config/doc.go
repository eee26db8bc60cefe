// Package config reads a repository's settings: the file .sia/config.yml on its
// base branch becomes a sia.Settings.
//
// One table, [Fields], says everything about a setting: its path, form, range
// and purpose. Parsing, the JSON Schema, the reference in docs/configuration.md
// and `sia config explain` are all made from it, so they can't disagree.
//
// Reading is strict. An unknown key or a bad value is a [Problem] with line,
// column, what was expected and the nearest thing that would be right; all
// problems of a file are reported together, as [*invalid.File]. A file with a problem
// changes nothing: who calls keeps the last good settings in force.
//
// Files are strangers' input: their size and nesting are bounded, aliases are
// refused, and no content makes the package panic.
//
// The package imports sia and sia/text only. Everything in it is safe for concurrent use.
//
// Start reading at fields.go.
package config
