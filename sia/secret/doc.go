// Package secret finds credentials in text and masks them, so that none leaves
// SIA: in a comment, a commit, a transcript, a memory file, a log line.
//
// A secret is recognised by its shape or by its value. By shape, [Mask] recognises the tokens of some two hundred
// issuers, private keys, JSON web tokens, passwords in URLs and headers, and random-looking values that are assigned to
// a key or a password. By value, a [Masker] recognises the server's own credentials: verbatim, in base64, in
// hexadecimal, and escaped for a URL or for JSON.
//
// Sure findings are also detected in UTF-16, UTF-32 and base64 (encoded.go).
//
// A [Finding] is sure when its shape alone makes it a credential. Other findings are masked, too, because hiding a
// harmless value costs little, but they are no reason to reject a commit.
//
// Most rules are those of gitleaks (MIT licence, see gitleaks.LICENSE): their table is gitleaks.json, which a test
// compares with the module's own. They are not run by gitleaks' detector, which reads the whole text once for each rule
// with a keyword in it (0.4 MB/s on our own history, where this package is a hundred times faster), reports lines
// instead of offsets, and depends on a configuration library with global state. Here one pass finds every keyword
// (sia/keyword), and a rule reads only the text around its own. Rules are compiled when one of their keywords is first
// found.
//
// The package is pure, imports only sia/keyword, and is safe for concurrent use. Start reading in
// scan.go.
package secret
