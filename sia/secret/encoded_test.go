package secret

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// encodings are ways to encode a text in which none of its tokens occurs verbatim.
var encodings = map[string]func(text string) string{
	"UTF-16LE":           func(s string) string { return wideText(s, binary.LittleEndian, 2) },
	"UTF-16BE":           func(s string) string { return wideText(s, binary.BigEndian, 2) },
	"UTF-16LE with mark": func(s string) string { return wideText("\ufeff"+s, binary.LittleEndian, 2) },
	"UTF-16BE with mark": func(s string) string { return wideText("\ufeff"+s, binary.BigEndian, 2) },
	"UTF-32LE":           func(s string) string { return wideText(s, binary.LittleEndian, 4) },
	"UTF-32BE":           func(s string) string { return wideText("\ufeff"+s, binary.BigEndian, 4) },
	"UTF-16 at an odd place": func(s string) string {
		return "x" + wideText(s, binary.LittleEndian, 2)
	},
	"base64": func(s string) string {
		return "data: " + base64.StdEncoding.EncodeToString([]byte(s)) + "\n"
	},
	"base64 without padding": func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
	"base64 for addresses": func(s string) string {
		return "?x=" + base64.URLEncoding.EncodeToString([]byte(s)) + "&y=1"
	},
	"base64 of UTF-16": func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte(wideText(s, binary.LittleEndian, 2)))
	},
	"base64 written in UTF-16": func(s string) string {
		return wideText(base64.StdEncoding.EncodeToString([]byte(s)), binary.BigEndian, 2)
	},
}

// wideText returns a text with two or four bytes per character.
func wideText(s string, order binary.AppendByteOrder, bytes int) string {
	var b []byte
	if bytes == 4 {
		for _, r := range s {
			b = order.AppendUint32(b, uint32(r))
		}
		return string(b)
	}
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// A token is found and masked in every encoding of the text around it, at the right offset.
func TestEncodedSecretsAreFound(t *testing.T) {
	tokens := map[string]string{
		"github-pat":       "ghp_" + strings.Repeat("aB3d", 9),
		"aws-access-token": "AKIAQ3EGRXZ2WVTY5KLM",
		"private-key": "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("aB3dE6g9", 8)+"\n", 6) +
			"-----END PRIVATE KEY-----",
		"server": "correct horse battery staple",
	}
	m := &Masker{}
	m.Know("server", tokens["server"])
	for name, encode := range encodings {
		for rule, token := range tokens {
			for _, text := range []string{token,
				"über alles\r\n# note\r\nTOKEN = '" + token + "'\r\nAnd so on.\r\n", "日本" + token + "日本"} {
				encoded := encode(text)
				if strings.Contains(name, "base64") && !strings.HasPrefix(text, token) && strings.Contains(text, "日") {
					continue // base64 of what is no text is not read
				}
				found := m.Find(encoded)
				if !slices.ContainsFunc(found, func(f Finding) bool { return f.Rule == rule && f.Sure }) {
					t.Errorf("%s of %q: %v", name, text, found)
				}
				masked := m.Mask(encoded)
				if !strings.Contains(masked, "[secret: "+rule+"]") || m.Mask(masked) != masked {
					t.Errorf("%s of %q is masked as %q", name, text, masked)
				}
			}
		}
	}
}

// Encoded text without a credential is unchanged, and other findings are unaffected.
func TestEncodedTextIsNoSecret(t *testing.T) {
	plain := strings.Repeat("An ordinary line, with key = \"refresh\" and API_TOKEN=xK9vQ2mZ7pL4wR8t in it.\r\n", 20)
	for name, encode := range encodings {
		if encoded := encode(plain); Mask(encoded) != encoded {
			t.Errorf("%s is masked as %q", name, Mask(encoded))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "pieces") {
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				b.WriteString(strings.Repeat("\x00", rapid.IntRange(1, 5).Draw(t, "nul")))
			case 1:
				b.WriteString(rapid.StringOfN(rapid.RuneFrom([]rune("aZ09+/=-_")), 0, 80, -1).Draw(t, "run"))
			case 2:
				b.Write(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes"))
			default:
				names := slices.Sorted(func(yield func(string) bool) {
					for n := range encodings {
						if !yield(n) {
							return
						}
					}
				})
				encode := encodings[rapid.SampledFrom(names).Draw(t, "encoding")]
				b.WriteString(encode(rapid.SampledFrom([]string{"ghp_" + strings.Repeat("aB3d", 9), plain,
					"-----BEGIN PRIVATE KEY-----"}).
					Draw(t, "text")))
			}
		}
		text := b.String()
		at := 0
		for _, f := range new(Masker).Find(text) {
			if f.Start < at || f.End <= f.Start || f.End > len(text) {
				t.Fatalf("%q: %+v after %d", text, f, at)
			}
			at = f.End
		}
		if once := Mask(text); Mask(once) != once {
			t.Fatalf("%q: %q, then %q", text, once, Mask(once))
		}
	})
}

// The time for encoded text is linear in its length.
//
//test:plain
func TestManyBeginningsOfEncodedText(t *testing.T) {
	for _, unit := range []string{"a\x00", "a\x00\x00\x00", "a\x00b\x00c\x00d\x00e\x00f\x00g\x00x", "\x00",
		"\x00a\x00\x00", "Z2hwX2FCM2RhQjNk", strings.Repeat("QUFB", 8) + "\n", strings.Repeat("QUFB", 8) + "=",
		strings.Repeat("_-+/", 9) + " "} {
		soon(t, fmt.Sprintf("%q", unit), func() { Mask(strings.Repeat(unit, 1<<20/len(unit))) })
	}
}
