package signin

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
)

const (
	keySize = 32
	// sealFor separates the key of cookies from other keys derived from the app's client secret.
	sealFor = "SIA: cookies of sign-ins, 1"
)

// openSeal returns the cipher of cookies. All servers of an app have its client secret, so each can open the others'
// cookies; a new secret signs everybody out.
func openSeal(clientSecret string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(clientSecret), nil, sealFor, keySize)
	if err != nil {
		return nil, fmt.Errorf("derive the key of sign-ins: %w", err)
	}
	return newSeal(key)
}
