package store

import (
	"context"
	"database/sql"
	"time"
)

// PriorImport is an import of what other installations learned. Decisions name the import that they
// used by its id.
type PriorImport struct {
	ID     int64  // assigned by ImportPriors
	Source string // the file or module version, for users
	Key    string // trusted public key that signed it
	Signed []byte // the file
	At     time.Time
}

// ImportPriors stores an import, which replaces the one in force.
func (s *PriorStore) ImportPriors(ctx context.Context, v PriorImport) (id int64, err error) {
	packed, err := pack(v.Signed)
	if err != nil {
		return 0, s.explain("import priors", err)
	}
	err = s.write(ctx, "import priors", func(tx *sql.Tx) error {
		if err := s.advisoryLock(ctx, tx, "priors"); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE prior_imports SET removed_at = ? WHERE removed_at = 0`,
			micros(v.At)); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `INSERT INTO prior_imports (source, key, priors, at) VALUES (?, ?, ?, ?) RETURNING id`,
			v.Source, v.Key, packed, micros(v.At)).Scan(&id)
	})
	return id, err
}

// RemovePriors removes the import in force; the error wraps [ErrNotFound] when there is none.
func (s *PriorStore) RemovePriors(ctx context.Context) error {
	return s.updateOne(ctx, "remove the imported priors", `UPDATE prior_imports SET removed_at = ? WHERE removed_at = 0`,
		micros(s.now()))
}

// PriorsInForce returns the id of the import in force; 0: there is none.
func (s *PriorStore) PriorsInForce(ctx context.Context) (id int64, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT id FROM prior_imports WHERE removed_at = 0`).Scan(&id)
	return id, s.explain("look for imported priors", ignoreNoRows(err))
}

// ImportedPriors loads an import, in force or not; the error wraps [ErrNotFound] when the id is unknown.
func (s *PriorStore) ImportedPriors(ctx context.Context, id int64) (v PriorImport, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT id, source, key, priors, at FROM prior_imports WHERE id = ?`, id).
		Scan(&v.ID, &v.Source, &v.Key, packedColumn{&v.Signed}, timeColumn{&v.At})
	return v, s.explain("load the imported priors", orNotFound(err))
}
