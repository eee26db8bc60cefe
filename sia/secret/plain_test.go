package secret

import (
	"math/rand/v2"
	"testing"
)

// What occurs in ordinary text is not masked, though a setting has it as a secret. What looks random is.
func TestPlainValuesAreNotMasked(t *testing.T) {
	t.Parallel()
	for value, plain := range map[string]bool{
		"postgres": true, "production": true, "PRODUCTION": true, "Anonymous": true, "not-needed": true,
		"lm-studio": true, "us-east-1": true, "ap-southeast-2": true, "/webhook": true, "/hooks/incoming": true,
		"/triggers/manual/run": true, "localhost:5432": true, "http://db1.example.com/v1": true, "2016-06-01": true,
		"sk-no-key-required": true, "development": true, "application/json": true,
		"S3same-7": false, "hunter22": false, "postgres123": false, "0123456789abcdef": false, "20260303": false,
		"T024BE7LH": false, "xoxbQzTr": false, "correct horse battery": false, "correct-horse-battery-staple": false,
		"qzjxkvbwpmtr": false, "sk-4f9a1c7e22": false, "Bearer sk-4f9a1c7e22": false, "s3cr3t-of-the-server": false,
		"/services/T024BE7LH/x": false,
	} {
		var m Masker
		m.Know("known", value)
		text := "before " + value + " after"
		if got := m.Mask(text); (got == text) != plain || Distinctive(value) == plain {
			t.Errorf("%s, plain %v: %q", value, plain, got)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, alphabet := range []string{"0123456789abcdef", "abcdefghijklmnopqrstuvwxyz234567",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"} {
		for range 1000 {
			value := make([]byte, 20)
			for i := range value {
				value[i] = alphabet[random.IntN(len(alphabet))]
			}
			if !Distinctive(string(value)) {
				t.Errorf("the random %s counts as plain", value)
			}
		}
	}
}
