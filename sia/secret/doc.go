// Package secret finds credentials in text and masks them, so that none leaves
// SIA: in a comment, a commit, a transcript, a memory file, a log line.
//
// There are two ways to know a secret. By its shape: [Mask] knows the forms of some two hundred
// issuers' tokens, private keys, JSON web tokens, passwords in addresses and headers, and
// random-looking values that are assigned to a key or a password. By its value: a [Masker] gets
// the server's own credentials. It finds them as they are, in base64, in hexadecimal, and escaped
// for an address or for JSON.
//
// What is sure is found in UTF-16, UTF-32 and base64, too (encoded.go).
//
// A [Finding] is sure when its form alone makes it a credential. A finding that is not sure is
// masked all the same, because hiding a harmless value costs little. It is no reason to refuse a
// commit.
//
// Most rules are those of gitleaks (MIT licence, see gitleaks.LICENSE): their
// table is gitleaks.json, which a test holds to the module's own. They are not
// run by gitleaks' detector, which reads the whole text once for each rule that
// has a keyword somewhere in it (0.4 MB/s on our own history, where this package
// reads a hundred times as much), reports lines instead of offsets, and brings a configuration
// library with global state. Here one pass finds every keyword (sia/keyword), and
// a rule reads only what stands around its own.
// Rules are compiled when a keyword of theirs is first met.
//
// The package is pure, imports only sia/keyword, and is safe for concurrent use. Start reading in
// scan.go.
package secret
