package web

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia/text"
)

// note is the answer to what somebody did on a page, and the page that they go back to.
type note struct {
	text, back string
	again      *again // instead: the page with what they wrote on it, for it was not taken
}

// again is a page that answers a form.
type again struct {
	status int
	page   string // the template's name
	frame  frame
}

// An address carries the answer between a form and the page after it, which another server may make. The answer is
// sealed with the viewer's token, which the viewer's pages and the servers alone know: no link of anybody else can put
// words into a page, and no log of addresses has them.

// maxNote bounds an answer, in characters: addresses longer than 8 kB don't pass every proxy.
const maxNote = 1000

// sealNote is an answer as an address carries it.
func sealNote(v viewer.Viewer, answer string) (string, error) {
	seal, err := noteSeal(v)
	if err != nil {
		return "", err
	}
	sealed := seal.Seal(nil, nil, []byte(text.Clip(answer, maxNote)), nil)
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// openNote is the answer that an address carries; "" when it carries none that was sealed for the viewer.
func openNote(v viewer.Viewer, sealed string) string {
	if v.Token == "" || sealed == "" {
		return ""
	}
	seal, err := noteSeal(v)
	if err != nil {
		return ""
	}
	b, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return ""
	}
	answer, err := seal.Open(nil, nil, b, nil)
	if err != nil {
		return ""
	}
	return string(answer)
}

func noteSeal(v viewer.Viewer) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(v.Token), nil, "SIA: answers to forms, 1", 32)
	if err != nil {
		return nil, fmt.Errorf("derive the key of answers to forms: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("seal an answer to a form: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}
