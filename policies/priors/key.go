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

// Key signs reports and priors, with Ed25519. Its name is random and says nothing of who has it.
type Key struct {
	private, public string
}

// NewKey makes a key by random bytes, in production those of crypto/rand.
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

// ParseKey reads what [Key.Private] gave. An error does not quote it.
func ParseKey(private string) (Key, error) {
	private = strings.TrimSpace(private)
	signer, err := note.NewSigner(private)
	if err != nil {
		return Key{}, errors.New("read a signing key: it is none, or it is damaged")
	}
	seed, err := base64.StdEncoding.DecodeString(strings.SplitN(private, "+", 5)[4]) // which has plus signs, too
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

// Private is the key as it is kept, in a line.
func (k Key) Private() string { return k.private }

// Public is what signatures are checked with, in a line: name, hash and key, as package note has it.
func (k Key) Public() string { return k.public }

// Fits is an error when a line is no public key of such a [Key].
func Fits(public string) error {
	if _, err := note.NewVerifier(public); err != nil || len(public) > maxKey {
		return fmt.Errorf("%.100q is no public key; it looks like sia-0123456789abcdef+01234567+A…", public)
	}
	return nil
}

const maxKey = 200 // bytes of a public key

// sign is a text that ends in a newline, with its signature.
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

// ErrNotTrusted is wrapped where no trusted key has signed.
var ErrNotTrusted = errors.New("no trusted key has signed it")

// verify is the text of a note that one of some public keys has signed, and which key that was.
// There is more to say than an error where the note is well-formed: who signed it.
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

// unsigned is the text of a note with an unchecked signature.
func unsigned(signed []byte) string {
	text, _, _ := strings.Cut(string(signed), "\n\n— ")
	return text + "\n"
}
