package store

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// Keys of JSON objects are searched like other text: unambiguous logins are replaced, and words are counted.
func TestEraseKeys(t *testing.T) {
	for _, c := range []struct {
		in, want string
		words    int
	}{
		{`{"commits":{"@Mia":3,"@bob":1}}`, `{"commits":{"@bob":1,"@ghost":3}}`, 0},
		{`{"https://github.com/mia":{"login":"mia"}}`, `{"https://github.com/ghost":{"login":"ghost"}}`, 0},
		{`{"@Mia":1,"@mia":2,"@ghost":null,"@MIA":4}`, `{"@ghost":null,"@ghost-2":4,"@ghost-3":1,"@ghost-4":2}`, 0},
		{`{"mia":1}`, `{"mia":1}`, 1},
		{`{"mia-b":1}`, `{"mia-b":1}`, 0},
		{`{"text":"{\"@mia\":1}"}`, `{"text":"{\"@ghost\":1}"}`, 0},
	} {
		e := rowEraser{who: person{logins: []string{"mia"}}}
		if got := e.text(c.in); got != c.want || e.words != c.words || e.changed != (c.in != c.want) {
			t.Errorf("%s: %s, %d words, changed %t", c.in, got, e.words, e.changed)
		}
	}
}

// A reason for which several batches fail is given once.
func TestForgetSaysErrorsOnce(t *testing.T) {
	ctx := t.Context()
	s := opened(t)
	for i := range 2*personBatch + 1 {
		err := s.SaveHeard(ctx, Heard{Repo: 5, Event: fmt.Sprint("comment/", i), Login: "mia"})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := s.write(ctx, "refuse updates", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `CREATE TRIGGER no BEFORE UPDATE ON heard BEGIN SELECT RAISE(ABORT, 'no'); END`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Forget(ctx, "mia", false)
	if err == nil || strings.Count(err.Error(), "heard") != 1 {
		t.Errorf("it failed with: %v", err)
	}
}
