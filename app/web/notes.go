package web

import (
	"encoding/base64"

	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia/text"
)

// note is the answer to an action on a page, and the page to return to.
type note struct {
	text, back string
	again      *again // instead: the refused form, with the person's input
}

// again is a page in answer to a form.
type again struct {
	status int
	page   string // the template's name
	frame  frame
}

// An address carries the answer from the form to the following page, which another server may render. The answer is
// sealed with the viewer's token, known only to the viewer's pages and the servers: no foreign link can put text into a
// page, and no log of addresses contains answers.

// noteSealFor is the purpose of the key of answers.
const noteSealFor = "SIA: answers to forms, 1"

// maxNote bounds an answer, in characters: addresses longer than 8 kB don't pass every proxy.
const maxNote = 1000

// sealNote encrypts an answer for an address.
func sealNote(v viewer.Viewer, answer string) (string, error) {
	seal, err := viewer.Seal(v.Token, noteSealFor)
	if err != nil {
		return "", err
	}
	sealed := seal.Seal(nil, nil, []byte(text.Clip(answer, maxNote)), nil)
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// openNote decrypts the answer in an address; "" if none was sealed for the viewer.
func openNote(v viewer.Viewer, sealed string) string {
	if v.Token == "" || sealed == "" {
		return ""
	}
	seal, err := viewer.Seal(v.Token, noteSealFor)
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
