package sandbox

import (
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"net"
	"strings"
	"testing"
)

// echConfig returns the ECH configuration by which a client hides the requested name behind another (RFC 9849 §4).
func echConfig(t *testing.T, behind string) []byte {
	t.Helper()
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sized := func(b []byte) []byte { return append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...) }
	config := []byte{1, 0, 0x20} // id; X25519, HKDF-SHA256
	config = append(config, sized(key.PublicKey().Bytes())...)
	config = append(config, sized([]byte{0, 1, 0, 1})...)     // HKDF-SHA256, AES-128-GCM
	config = append(config, 64, byte(len(behind)))            // maximum name length; public name
	config = append(append(config, behind...), sized(nil)...) // no extensions
	return sized(append(binary.BigEndian.AppendUint16(nil, extensionECH), sized(config)...))
}

// A client that requests the tunnel's name in the clear is let through, and one that hides another name is not.
func TestTunnelsNameHidesNone(t *testing.T) {
	for says, config := range map[string]*tls.Config{
		"": {ServerName: "good.example"},
		"it hides whom it asks for": {ServerName: "evil.example", MinVersion: tls.VersionTLS13,
			EncryptedClientHelloConfigList: echConfig(t, "good.example")},
		"it asks for": {ServerName: "evil.example"},
	} {
		here, there := net.Pipe()
		go func() {
			_ = tls.Client(there, config).HandshakeContext(t.Context()) // it gets no response
		}()
		hello, err := readHello(t.Context(), here, "good.example:443")
		here.Close()
		if good := says == ""; (err == nil) != good || (len(hello) > 0) != good || err != nil &&
			!strings.Contains(err.Error(), says) {
			t.Errorf("%d bytes, %v, want %q", len(hello), err, says)
		}
	}
}
