package service

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/sandbox"
)

//go:embed scripts/postgres.sh
var postgresScript string

//go:embed scripts/redis.sh
var redisScript string

//go:embed scripts/memcached.sh
var memcachedScript string

//go:embed scripts/mysql.sh
var mysqlScript string

// kind is a server that can be started.
type kind struct {
	title    string
	images   []string // last parts of the names of images that contain it
	programs []string // alternative names of its program; the first available is used
	port     int      // port of its image
	socket   string   // relative to the folder of the service
	script   string   // its variables are DIR, the folder of the service, BIN, and those of env
	inFolder bool     // BIN is the folder of the program
	// env converts the variables of the image to those of the script
	env func(get func(names ...string) string) []string
}

// kinds are the supported servers. The variables are documented for the images: hub.docker.com/_/postgres, /_/mysql,
// /_/mariadb, and for their bitnami images.
var kinds = []kind{
	{title: "PostgreSQL", images: []string{"postgres", "postgresql", "postgis", "pgvector"},
		programs: []string{"initdb"}, port: 5432, socket: "run/.s.PGSQL.5432", script: postgresScript, inFolder: true,
		env: postgresEnv},
	{title: "Redis", images: []string{"redis", "valkey"}, programs: []string{"redis-server", "valkey-server"}, port: 6379,
		socket: "run/redis.sock", script: redisScript, env: redisEnv},
	{title: "MariaDB", images: []string{"mariadb"}, programs: []string{"mariadbd", "mysqld"}, port: 3306,
		socket: "run/mysql.sock", script: mysqlScript, env: mysqlEnv},
	{title: "MySQL", images: []string{"mysql", "mysql-server", "percona", "percona-server"},
		programs: []string{"mysqld", "mariadbd"}, port: 3306, socket: "run/mysql.sock", script: mysqlScript, env: mysqlEnv},
	{title: "memcached", images: []string{"memcached"}, programs: []string{"memcached"}, port: 11211,
		socket: "run/memcached.sock", script: memcachedScript, env: func(func(...string) string) []string { return nil }},
}

// extensions are those of PostgreSQL that an image is for.
var extensions = map[string]string{"pgvector": "vector", "postgis": "postgis"}

// hasExtension reports whether this host's PostgreSQL has an extension: for /usr/lib/postgresql/16/bin it is in
// /usr/share/postgresql/16/extension, for /usr/pgsql-16/bin in /usr/pgsql-16/share/extension.
func hasExtension(program, name string) bool {
	prefix := filepath.Dir(filepath.Dir(program))
	for _, share := range []string{strings.Replace(prefix, "/lib/", "/share/", 1), filepath.Join(prefix, "share"),
		filepath.Join(prefix, "share", "postgresql")} {
		if _, err := os.Stat(filepath.Join(share, "extension", name+".control")); err == nil {
			return true
		}
	}
	return false
}

// kindOf returns the kind of server in an image, and the last part of its name with its tag: for
// registry/owner/postgres:16@sha256:… postgres and 16.
func kindOf(image string) (k kind, name, tag string, known bool) {
	image, _, _ = strings.Cut(image, "@")
	name = image[strings.LastIndexByte(image, '/')+1:]
	name, tag, _ = strings.Cut(name, ":")
	for _, k := range kinds {
		if slices.Contains(k.images, strings.ToLower(name)) {
			return k, strings.ToLower(name), tag, true
		}
	}
	return k, name, tag, false
}

// program returns the path of a kind's program on this host; empty: none. Of several versions, as of PostgreSQL, it
// returns the one in the tag, or else the newest.
func (k kind) program(folders []string, tag string) string {
	for _, name := range k.programs {
		var found []string
		for _, pattern := range folders {
			all, _ := filepath.Glob(filepath.Join(pattern, name)) // the patterns are constant or from PATH
			found = append(found, slices.DeleteFunc(all, func(p string) bool { return !sandbox.IsProgram(p) })...)
		}
		if len(found) == 0 {
			continue
		}
		slices.SortStableFunc(found, func(a, b string) int { return version(a) - version(b) })
		for _, p := range found {
			if version(p) > 0 && version(p) == leadingNumber(tag) {
				return p
			}
		}
		return found[len(found)-1]
	}
	return ""
}

// version returns the version in a program's folder, such as 16 in /usr/lib/postgresql/16/bin; 0: none.
func version(program string) (n int) {
	for _, part := range strings.Split(filepath.Dir(program), "/") {
		n = max(n, leadingNumber(strings.TrimPrefix(part, "pgsql-")))
	}
	return n
}

// leadingNumber returns the number of at most four digits that s begins with; 0: none.
func leadingNumber(s string) (n int) {
	_, _ = fmt.Sscanf(s, "%4d", &n) // without a number, n stays 0
	return n
}

func postgresEnv(get func(names ...string) string) []string {
	user := cmp.Or(get("POSTGRES_USER", "POSTGRESQL_USERNAME", "POSTGRESQL_USER"), "postgres")
	database := cmp.Or(get("POSTGRES_DB", "POSTGRESQL_DATABASE"), user)
	password := get("POSTGRES_PASSWORD", "POSTGRESQL_PASSWORD")
	auth, create := "scram-sha-256", ""
	if password == "" || get("POSTGRES_HOST_AUTH_METHOD") == "trust" {
		auth = "trust"
	}
	if password == "" {
		password = "none" // initdb requires one, but it is never used
	}
	if database != "postgres" { // which always exists
		create = `CREATE DATABASE "` + strings.ReplaceAll(database, `"`, `""`) + `"`
	}
	return []string{"SUPERUSER=" + user, "PASSWORD=" + password, "AUTH=" + auth, "DATABASE=" + database,
		"CREATE=" + create}
}

func redisEnv(get func(names ...string) string) []string {
	return []string{"PASSWORD=" + get("REDIS_PASSWORD")}
}

func mysqlEnv(get func(names ...string) string) []string {
	either := func(name string) string { return get("MYSQL_"+name, "MARIADB_"+name) }
	user, password, database, root := either("USER"), either("PASSWORD"), either("DATABASE"), either("ROOT_PASSWORD")
	var sql []string
	if database != "" {
		sql = append(sql, "CREATE DATABASE IF NOT EXISTS "+mysqlName(database)+";")
	}
	if user != "" && user != "root" {
		sql = append(sql, "CREATE USER IF NOT EXISTS "+mysqlText(user)+"@'%' IDENTIFIED BY "+mysqlText(password)+";")
		if database != "" {
			sql = append(sql, "GRANT ALL ON "+mysqlName(database)+".* TO "+mysqlText(user)+"@'%';")
		}
	}
	sql = append(sql, "CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY "+mysqlText(root)+";",
		"GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;",
		"ALTER USER 'root'@'localhost' IDENTIFIED BY "+mysqlText(root)+";")
	return []string{"SQL=" + strings.Join(sql, "\n"), "USER=" + user, "PASSWORD=" + password, "ROOT_PASSWORD=" + root}
}

func mysqlName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

func mysqlText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(s) + "'"
}
