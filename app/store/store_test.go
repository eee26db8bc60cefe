package store_test

import (
	"testing"

	"github.com/sia-bot/sia/app/store/storetest"
)

func TestSQLite(t *testing.T) { runSuite(t, storetest.SQLite) }

func TestPostgres(t *testing.T) { runSuite(t, storetest.Postgres) }

//test:plain
func TestSQLiteLong(t *testing.T) { runLong(t, storetest.SQLite) }

//test:plain
func TestPostgresLong(t *testing.T) { runLong(t, storetest.Postgres) }
