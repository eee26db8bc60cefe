package store_test

import (
	"testing"

	"github.com/sia-bot/sia/app/store/storetest"
)

func TestSQLite(t *testing.T) {
	runSuite(t, storetest.SQLite)
}

func TestPostgres(t *testing.T) { runSuite(t, storetest.Postgres) }
