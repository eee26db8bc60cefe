// Package yamlfile parses the YAML files that people write for SIA: strictly, and with messages for people.
//
// A file is decoded into Go values, with yaml tags for keys. An unknown key, or a value that its field does not accept,
// is an [invalid.Problem] with line, column, the path of the key, what was expected and the nearest valid value. All
// problems of a file are reported together. A value that a file omits is unchanged: a table keeps the entries that the
// file does not name, and a list is replaced as a whole.
//
// Files are untrusted input: their size and nesting are bounded, anchors, aliases and tags are rejected unless the form
// is lenient, and no content makes the package panic.
//
// The package does not depend on the kind of file. Start reading at [Parse], then [File.Into].
package yamlfile
