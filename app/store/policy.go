package store

import (
	"context"
	"database/sql"
	"fmt"
)

// PolicyFile is one policy file of a repository, in its last valid version.
type PolicyFile struct {
	Path    string
	Version string // id of the policy
	Source  string
}

// PolicyRead is the commit at which a repository's policy files were last read, and the
// error in them, for users. The zero PolicyRead: they were never read.
type PolicyRead struct{ SHA, Broken string }

// SavePolicies stores the policy files that a repository has at a commit, and replaces the
// stored ones. The repository must be known.
func (s *PolicyStore) SavePolicies(ctx context.Context, repo int64, read PolicyRead, files []PolicyFile) error {
	return s.write(ctx, fmt.Sprintf("save the policies of repository %d", repo), func(tx *sql.Tx) error {
		if err := s.advisoryLock(ctx, tx, fmt.Sprintf("policies of %d", repo)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM repo_policies WHERE repo_id = ?`, repo); err != nil {
			return err
		}
		for _, f := range files {
			if _, err := tx.ExecContext(ctx, `INSERT INTO repo_policies (repo_id, path, version, source) VALUES (?, ?, ?, ?)`,
				repo, f.Path, f.Version, f.Source); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO policy_reads (repo_id, sha, broken) VALUES (?, ?, ?)
			ON CONFLICT (repo_id) DO UPDATE SET sha = excluded.sha, broken = excluded.broken`, repo, read.SHA, read.Broken)
		return err
	})
}

// Policies returns what [PolicyStore.SavePolicies] stored, by path.
func (s *PolicyStore) Policies(ctx context.Context, repo int64) (files []PolicyFile, read PolicyRead, err error) {
	op := fmt.Sprintf("load the policies of repository %d", repo)
	err = s.r.QueryRowContext(ctx, `SELECT sha, broken FROM policy_reads WHERE repo_id = ?`, repo).
		Scan(&read.SHA, &read.Broken)
	if ignoreNoRows(err) != nil {
		return nil, read, s.explain(op, err)
	}
	files, err = list(ctx, s.DB, op, func(from row) (f PolicyFile, err error) {
		err = from.Scan(&f.Path, &f.Version, &f.Source)
		return f, err
	}, `SELECT path, version, source FROM repo_policies WHERE repo_id = ? ORDER BY path`, repo)
	return files, read, err
}

// KeepPolicyVersion stores the source of a policy permanently. The first one with an id is kept.
func (s *PolicyStore) KeepPolicyVersion(ctx context.Context, id, decision, source string) error {
	return s.exec(ctx, "keep the policy "+id, `INSERT INTO policy_versions (id, decision, source, at) VALUES (?, ?, ?, ?)
		ON CONFLICT (id) DO NOTHING`, id, decision, source, micros(s.now()))
}

// PolicyVersion returns the source of a policy by its id; the error wraps [ErrNotFound] when
// it never made a decision.
func (s *PolicyStore) PolicyVersion(ctx context.Context, id string) (source string, err error) {
	return load(ctx, s.DB, "load the policy "+id, scanValue[string], `SELECT source FROM policy_versions WHERE id = ?`, id)
}
