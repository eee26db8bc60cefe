package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sia"
)

// Installation is an installation of the app in an account.
type Installation struct {
	ID        int64  // GitHub's installation id
	Account   string // login
	Suspended bool
}

// Repository is a repository that an installation covers.
type Repository struct {
	sia.Repo
	Installation  int64
	DefaultBranch string
	Private       bool
}

// UpsertInstallation inserts or replaces an installation. The columns for the account's id and type are unused.
func (s *InstallationStore) UpsertInstallation(ctx context.Context, v Installation) error {
	now := micros(s.now())
	return s.exec(ctx, fmt.Sprintf("save installation %d", v.ID),
		`INSERT INTO installations (id, account, account_id, account_type, suspended, created_at, updated_at)
		VALUES (?, ?, 0, '', ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET account = excluded.account, suspended = excluded.suspended,
			updated_at = excluded.updated_at`, v.ID, v.Account, v.Suspended, now, now)
}

// RemoveInstallation deletes an installation and its repositories with their
// settings. It does not delete or stop its tasks: stop them first.
func (s *InstallationStore) RemoveInstallation(ctx context.Context, id int64) error {
	return s.write(ctx, fmt.Sprintf("remove installation %d", id), func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM halts WHERE scope IN (?, ?)`, sia.InstallationHalt(id),
			sia.SuspensionHalt(id)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM installations WHERE id = ?`, id)
		return err
	})
}

// Installations lists the installations by account.
func (s *InstallationStore) Installations(ctx context.Context) ([]Installation, error) {
	return list(ctx, s.DB, "list installations", func(from row) (v Installation, err error) {
		err = from.Scan(&v.ID, &v.Account, &v.Suspended)
		return v, err
	}, `SELECT id, account, suspended FROM installations ORDER BY account, id`)
}

// UpsertRepository inserts or replaces a repository of a known installation, and
// keeps its settings.
func (s *InstallationStore) UpsertRepository(ctx context.Context, v Repository) error {
	return s.exec(ctx, "save repository "+v.String(),
		`INSERT INTO repositories (id, installation_id, owner, name, default_branch, private, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET installation_id = excluded.installation_id, owner = excluded.owner,
			name = excluded.name, default_branch = excluded.default_branch, private = excluded.private,
			updated_at = excluded.updated_at`,
		v.ID, v.Installation, v.Owner, v.Name, v.DefaultBranch, v.Private, micros(s.now()))
}

// AddRepositories saves repositories of a known installation from a delivery that has only
// their ids and names: the other columns of existing ones are kept.
func (s *InstallationStore) AddRepositories(ctx context.Context, installation int64, repos []sia.Repo) error {
	for some := range slices.Chunk(repos, repoBatch) {
		err := s.write(ctx, "save repositories", func(tx *sql.Tx) error {
			for _, r := range some {
				if _, err := tx.ExecContext(ctx, `INSERT INTO repositories
					(id, installation_id, owner, name, default_branch, private, updated_at) VALUES (?, ?, ?, ?, '', 0, ?)
					ON CONFLICT (id) DO UPDATE SET installation_id = excluded.installation_id, owner = excluded.owner,
						name = excluded.name, updated_at = excluded.updated_at`,
					r.ID, installation, r.Owner, r.Name, micros(s.now())); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// RemoveRepository deletes a repository of an installation and its settings, unless it has moved to another
// installation. It keeps the tasks.
func (s *InstallationStore) RemoveRepository(ctx context.Context, installation, id int64) error {
	return s.exec(ctx, fmt.Sprintf("remove repository %d", id),
		`DELETE FROM repositories WHERE id = ? AND installation_id = ?`, id, installation)
}

const repositoryColumns = `id, installation_id, owner, name, default_branch, private`

func scanRepository(from row) (v Repository, err error) {
	err = from.Scan(&v.ID, &v.Installation, &v.Owner, &v.Name, &v.DefaultBranch, &v.Private)
	return v, err
}

// Repository loads a repository by GitHub's id; the error wraps [ErrNotFound]
// when it is not known.
func (s *InstallationStore) Repository(ctx context.Context, id int64) (Repository, error) {
	return load(ctx, s.DB, fmt.Sprintf("load repository %d", id), scanRepository,
		`SELECT `+repositoryColumns+` FROM repositories WHERE id = ?`, id)
}

// RepositoryNamed loads the repository of an installation with a name; the error
// wraps [ErrNotFound] when there is none. If several have had the name, it returns
// the one that was saved last.
func (s *InstallationStore) RepositoryNamed(ctx context.Context, installation int64, name string) (Repository, error) {
	return load(ctx, s.DB, fmt.Sprintf("load repository %s of installation %d", name, installation), scanRepository,
		`SELECT `+repositoryColumns+` FROM repositories
		WHERE installation_id = ? AND name = ? ORDER BY updated_at DESC, id DESC LIMIT 1`, installation, name)
}

// Repositories lists the repositories of an installation or, with 0, of all
// installations, by name.
func (s *InstallationStore) Repositories(ctx context.Context, installation int64) ([]Repository, error) {
	return list(ctx, s.DB, "list repositories", scanRepository,
		`SELECT `+repositoryColumns+` FROM repositories WHERE ? = 0 OR installation_id = ? ORDER BY owner, name`,
		installation, installation)
}

// OwnSettings has the settings from a repository's own file.
type OwnSettings struct {
	Settings *sia.Settings // the last valid settings; nil: there is no file, or it was never valid
	SHA      string        // the commit of the default branch that they were read from; empty: none
}

// SaveSettings stores the settings of a repository's own file, and replaces the
// stored ones. The repository must be known.
func (s *InstallationStore) SaveSettings(ctx context.Context, repo int64, own OwnSettings) error {
	op := fmt.Sprintf("save the settings of repository %d", repo)
	text, err := json.Marshal(own.Settings) // "null" if there is no file, unlike NULL, which means never read
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return s.updateOne(ctx, op, `UPDATE repositories SET settings = ?, settings_sha = ?, updated_at = ? WHERE id = ?`,
		string(text), own.SHA, micros(s.now()), repo)
}

// Dashboard returns the number of a repository's dashboard issue; 0: none is known.
func (s *InstallationStore) Dashboard(ctx context.Context, repo int64) (number int, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT dashboard FROM repositories WHERE id = ?`, repo).Scan(&number)
	return number, s.explain(fmt.Sprintf("load the dashboard of repository %d", repo), ignoreNoRows(err))
}

// SaveDashboard stores the number of a repository's dashboard issue.
func (s *InstallationStore) SaveDashboard(ctx context.Context, repo int64, number int) error {
	return s.exec(ctx, fmt.Sprintf("save the dashboard of repository %d", repo),
		`UPDATE repositories SET dashboard = ? WHERE id = ?`, number, repo)
}

// Settings returns the stored settings of a repository; the error wraps [ErrNotFound]
// when there are none.
func (s *InstallationStore) Settings(ctx context.Context, repo int64) (own OwnSettings, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT settings, settings_sha FROM repositories
		WHERE id = ? AND settings IS NOT NULL`, repo).Scan(jsonColumn{&own.Settings}, &own.SHA)
	return own, s.explain(fmt.Sprintf("load the settings of repository %d", repo), orNotFound(err))
}
