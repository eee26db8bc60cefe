package priors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limit is the maximum size of a signed file, in bytes. The largest that this package writes have some 450 KiB.
const Limit = 2 << 20

// write returns the canonical form of a document: the fields of its head, one per line, and then its rows, one per
// line, so that people can read and compare it.
func write[T any](head any, name string, rows []T) (string, error) {
	b, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	out.Write(bytes.TrimSuffix(b, []byte("\n}")))
	fmt.Fprintf(&out, ",\n  %q: [", name)
	for i, row := range rows {
		if b, err = json.Marshal(row); err != nil {
			return "", err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		out.Write(b)
	}
	out.WriteString("\n  ]\n}\n")
	return out.String(), nil
}

// read parses a document in the canonical form of [write]. It compares the text with the document written again, which
// rules out duplicate and unknown fields and other number formats.
func read(text string, into interface{ text() (string, error) }) error {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	again, err := into.text()
	if err != nil {
		return err
	}
	if again != text {
		return errors.New("it is not in the form in which SIA writes it: somebody has edited it, or another program wrote it")
	}
	return nil
}

// formatOf returns the format named in a document's first field, without parsing the rest.
func formatOf(text string) string {
	rest, _ := strings.CutPrefix(text, "{\n  \"format\": \"")
	format, _, ok := strings.Cut(rest, "\",\n")
	if !ok || len(rest) == len(text) {
		return ""
	}
	return format
}

// ReadBounded reads a signed file of at most [Limit] bytes.
func ReadBounded(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, Limit+1))
	if err == nil && len(b) > Limit {
		err = fmt.Errorf("it has more than %d MiB, which no such file needs", Limit>>20)
	}
	return b, err
}
