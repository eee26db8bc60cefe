// Package config reads a repository's settings: the file .sia/config.yml on its
// base branch becomes a sia.Settings.
//
// One table, [Fields], says everything about a setting: its path, form, range
// and purpose. Parsing, the JSON Schema, the reference in docs/configuration.md
// and `sia config explain` are all made from it, so they can't disagree.
//
// Reading is strict (package yamlfile). All problems of a file are reported together, as
// [*invalid.File]. A file with a problem changes nothing: who calls keeps the last good
// settings in force.
//
// Everything in the package is safe for concurrent use.
//
// Start reading at fields.go.
package config
