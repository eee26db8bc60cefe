package signin

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
)

const (
	keySize = 32
	// sealFor keeps the key of cookies apart from whatever else is derived of the app's client secret.
	sealFor = "SIA: cookies of sign-ins, 1"
)

// openSeal is what cookies are sealed with. All servers of an app have its client secret, so that each opens what
// another sealed; a new secret signs everybody out.
func openSeal(clientSecret string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(clientSecret), nil, sealFor, keySize)
	if err != nil {
		return nil, fmt.Errorf("derive the key of sign-ins: %w", err)
	}
	return newSeal(key)
}
