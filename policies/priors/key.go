package priors

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Key signs reports and priors with Ed25519. Its name is random and reveals nothing about its owner.
type Key struct {
	private, public string
}

// NewKey returns a key made from random bytes, in production those of crypto/rand.
func NewKey(random io.Reader) (Key, error) {
	name := make([]byte, 8)
	if _, err := io.ReadFull(random, name); err != nil {
		return Key{}, fmt.Errorf("make a key: %w", err)
	}
	private, public, err := note.GenerateKey(random, "sia-"+hex.EncodeToString(name))
	if err != nil {
		return Key{}, fmt.Errorf("make a key: %w", err)
	}
	return Key{private, public}, nil
}

// ParseKey parses the result of [Key.Private]. Errors do not quote it.
func ParseKey(private string) (Key, error) {
	private = strings.TrimSpace(private)
	signer, err := note.NewSigner(private)
	if err != nil {
		return Key{}, errors.New("read a signing key: it is none, or it is damaged")
	}
	seed, err := base64.StdEncoding.DecodeString(strings.SplitN(private, "+", 5)[4])
	if err != nil || len(seed) != 1+ed25519.SeedSize {
		return Key{}, errors.New("read a signing key: it is no Ed25519 key")
	}
	pair := ed25519.NewKeyFromSeed(seed[1:])
	public, err := note.NewEd25519VerifierKey(signer.Name(), ed25519.PublicKey(pair[ed25519.SeedSize:]))
	if err != nil {
		return Key{}, fmt.Errorf("read a signing key: %w", err)
	}
	return Key{private, public}, nil
}

// Private returns the private key in one line, for storage.
func (k Key) Private() string { return k.private }

// Public returns the public key in one line: name, hash and key, in the format of package note.
func (k Key) Public() string { return k.public }

// Fits returns an error if a line is not the public key of a [Key].
func Fits(public string) error {
	if _, err := note.NewVerifier(public); err != nil || len(public) > maxKey {
		return fmt.Errorf("%.100q is no public key; it looks like sia-0123456789abcdef+01234567+A…", public)
	}
	return nil
}

const maxKey = 200 // maximum length of a public key, in bytes

// sign returns a text, which must end in a newline, with its signature.
func (k Key) sign(text string) ([]byte, error) {
	signer, err := note.NewSigner(k.private)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return signed, nil
}

// ErrNotTrusted is wrapped by errors when no trusted key has signed.
var ErrNotTrusted = errors.New("no trusted key has signed it")

// verify returns the text of a note signed by one of some public keys, and that key. For a well-formed note of another
// key, the error names the signer.
func verify(signed []byte, public []string) (text, by string, err error) {
	var all []note.Verifier
	for _, p := range public {
		if err := Fits(p); err != nil {
			return "", "", err
		}
		v, err := note.NewVerifier(p)
		if err != nil {
			return "", "", fmt.Errorf("read a public key: %w", err)
		}
		all = append(all, v)
	}
	n, err := note.Open(signed, note.VerifierList(all...))
	var unverified *note.UnverifiedNoteError
	switch {
	case errors.As(err, &unverified):
		var names []string
		for _, s := range unverified.Note.UnverifiedSigs {
			names = append(names, fmt.Sprintf("%.60s+%08x", s.Name, s.Hash))
		}
		return "", "", fmt.Errorf("%w; the signature says it is of %s",
			ErrNotTrusted, strings.Join(names[:min(len(names), 5)], ", "))
	case err != nil:
		return "", "", fmt.Errorf("check the signature: %w", err)
	}
	for i, v := range all {
		if n.Sigs[0].Name == v.Name() && n.Sigs[0].Hash == v.KeyHash() {
			by = public[i]
		}
	}
	return n.Text, by, nil
}

// unsigned returns the text of a note without checking the signature.
func unsigned(signed []byte) string {
	text, _, _ := strings.Cut(string(signed), "\n\n— ")
	return text + "\n"
}
