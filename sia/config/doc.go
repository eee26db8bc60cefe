// Package config reads a repository's settings: the file .sia/config.yml on its
// base branch becomes a sia.Settings.
//
// One table, [Fields], defines each setting: its path, form, range and purpose.
// Parsing, the JSON Schema, the reference in docs/configuration.md and
// `sia config explain` all use it, so they can't disagree.
//
// Parsing is strict (package yamlfile). All problems of a file are reported together, as
// [*invalid.File]. A file with a problem changes nothing: the caller keeps the last valid
// settings in force.
//
// The package is safe for concurrent use.
//
// Start reading at fields.go.
package config
