package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sia-bot/sia/app/atomicfile"
	"github.com/sia-bot/sia/sia"
)

// Backup implements dialect.
func (s *sqliteDialect) Backup(ctx context.Context, file string) (size int64, err error) {
	op := "back up the database to " + file
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return 0, backupFileError(op, err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(file), ".sia-backup-") // readable by its owner alone
	if err != nil {
		return 0, fmt.Errorf("%s: %w", op, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	copied := filepath.Join(dir, "sia.db")
	// https://sqlite.org/lang_vacuum.html#vacuuminto: a consistent snapshot of a database that is in use.
	if _, err := s.ckpt.ExecContext(ctx, `VACUUM INTO ?`, copied); err != nil {
		return 0, s.explain(op, err)
	}
	if size, err = checkBackup(ctx, copied); err != nil {
		return 0, fmt.Errorf("%s: %w", op, err)
	}
	err = os.Link(copied, file) // unlike a rename, does not replace a file that was just created
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(copied, file) // not every file system has links
	}
	if err != nil {
		return 0, backupFileError(op, err)
	}
	return size, atomicfile.SyncFolder(filepath.Dir(file))
}

// Files implements dialect.
func (s *sqliteDialect) Files() []string {
	return []string{s.path, s.path + "-wal", s.path + "-shm", s.path + ".lock"}
}

// backupFileError returns the error for a backup file that can't be created. A nil err means that
// the file exists.
func backupFileError(op string, err error) error {
	if err == nil || errors.Is(err, fs.ErrExist) {
		return &sia.Error{Op: op, Permanent: true,
			Message: "there is a file of that name, and a backup never takes another's place; name a new one"}
	}
	return fmt.Errorf("%s: %w", op, err)
}

// checkBackup checks that SQLite can read all of a copy, makes it readable by its owner alone, and
// syncs it to the disk.
func checkBackup(ctx context.Context, file string) (size int64, err error) {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return 0, err
	}
	var found string
	err = db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found)
	if err = errors.Join(err, db.Close()); err != nil {
		return 0, fmt.Errorf("read the copy: %w", err)
	}
	if found != "ok" {
		return 0, fmt.Errorf("the copy is damaged: %s", found)
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err == nil {
		size = info.Size()
	}
	return size, errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close())
}
