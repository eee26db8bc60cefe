// Package yamlfile reads the YAML files that people write for SIA: strictly, and with words for what is wrong.
//
// A file is read into Go values, with yaml tags for keys. An unknown key, and a value that is not what its field takes,
// is an [invalid.Problem] with line, column, the path of the key, what was expected and the nearest thing that would be
// right. All problems of a file are found together. What a file leaves out stays as it was: a table keeps the entries
// that the file does not name, and a list is replaced as a whole.
//
// Files are strangers' input: their size and nesting are bounded, anchors, aliases and tags are refused, and no content
// makes the package panic.
//
// The package knows nothing of what the files are about. Start reading at [Parse], then [File.Into].
package yamlfile
