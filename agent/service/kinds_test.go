package service

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia/gate"
)

// RunServer is a fake server that records how it was started, listens and waits for its end.
func RunServer(args []string) error {
	if err := os.WriteFile(filepath.Join(os.Getenv("DIR"), "args"), []byte(strings.Join(args, "\n")), 0o600); err != nil {
		return err
	}
	socket := ""
	for i, a := range args {
		if a == "--unixsocket" || a == "-s" {
			socket = args[i+1]
		} else if a == "-k" {
			socket = filepath.Join(args[i+1], ".s.PGSQL.5432")
		} else if s, ok := strings.CutPrefix(a, "--socket="); ok {
			socket = s
		}
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	return conn.Close()
}

// installed creates a folder with this binary as server programs, of a version newer than any real one, and with an
// extension of PostgreSQL.
func installed(t *testing.T, names ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "99", "bin")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		script := fmt.Sprintf("#!/bin/sh\ncase \"$0 $*\" in */mysqld*--version*) echo \"$0 Ver 8.4.6 for Linux\"; exit;;"+
			" *--version*) echo \"$0 Ver 11.4-MariaDB\"; exit;; *--initialize-insecure*) exit;; esac\n"+
			"case $0 in */mysqladmin) printf '%%s\\n' \"$@\" >> logins; exit;;"+
			" *-install-db) printf '%%s\\n' \"$@\" > install; exit;;"+
			" */initdb) exit;; */pg_isready) test -S run/.s.PGSQL.5432; exit;; esac\n"+
			"case $1 in --single) { printf '%%s\n' \"$*\"; cat; } >> single; exit;; esac\n"+
			"exec '%s' server \"$@\"\n", self)
		if err := os.WriteFile(filepath.Join(dir, n), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	extension := filepath.Join(filepath.Dir(dir), "share", "extension")
	if err := os.MkdirAll(extension, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(extension, "postgis.control"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestCommandLines tests the command lines of servers that need not be installed, with values that are special to a
// shell.
func TestCommandLines(t *testing.T) {
	const password = `a'b"c$(d)\`
	login := func(user, password string) string {
		return "--no-defaults\n--socket=DIR/run/mysql.sock\n--connect-timeout=60\n--user=" + user + "\n--password=" +
			password + "\nping\n"
	}
	for _, c := range []struct {
		wanted   gate.Service
		programs []string
		port     int
		args     []string
		files    map[string]string
	}{
		{gate.Service{Name: "r", Image: "bitnami/redis:7", Env: map[string]string{"REDIS_PASSWORD": password}},
			[]string{"redis-server"}, 6379,
			[]string{"--port\n0\n--unixsocket\nDIR/run/redis.sock", "--requirepass\n" + password},
			nil},
		{gate.Service{Name: "r", Image: "redis"}, []string{"valkey-server"}, 6379,
			[]string{"--save\n\n--appendonly\nno"}, nil},
		{gate.Service{Name: "m", Image: "memcached:1.6"}, []string{"memcached"}, 11211,
			[]string{"-s\nDIR/run/memcached.sock"}, nil},
		{gate.Service{Name: "p", Image: "postgis/postgis", Env: map[string]string{"POSTGRES_PASSWORD": password,
			"POSTGRES_DB": `a"b`}}, []string{"initdb", "postgres", "pg_isready"}, 5432, []string{"-k\nDIR/run"},
			map[string]string{"single": "--single -D data -c fsync=off postgres\nCREATE DATABASE \"a\"\"b\"\n" +
				"--single -D data -c fsync=off a\"b\nCREATE EXTENSION postgis\n"}},
		{gate.Service{Name: "p", Image: "postgres"}, []string{"initdb", "postgres", "pg_isready"}, 5432, nil, nil},
		{gate.Service{Name: "m", Image: "docker.io/library/mysql:8.4", Env: map[string]string{"MYSQL_USER": "u",
			"MYSQL_PASSWORD": password, "MYSQL_DATABASE": "a`b", "MYSQL_ROOT_PASSWORD": "${{ secrets.ROOT }}"}},
			[]string{"mariadbd", "mariadb-install-db"}, 3306,
			[]string{"--no-defaults\n--datadir=DIR/data\n--socket=DIR/run/mysql.sock", "--skip-networking",
				"--init-file=DIR/init.sql"},
			map[string]string{"init.sql": "CREATE DATABASE IF NOT EXISTS `a``b`;\n" +
				`CREATE USER IF NOT EXISTS 'u'@'%' IDENTIFIED BY 'a''b"c$(d)\\';` + "\n" +
				"GRANT ALL ON `a``b`.* TO 'u'@'%';\nCREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY '';\n" +
				"GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;\nALTER USER 'root'@'localhost' IDENTIFIED BY '';\n",
				"install": "--no-defaults\n--datadir=DIR/data\n--skip-test-db\n--auth-root-authentication-method=normal\n"}},
		{gate.Service{Name: "m", Image: "mysql:8", Env: map[string]string{"MYSQL_USER": "u", "MYSQL_PASSWORD": password,
			"MYSQL_ROOT_PASSWORD": "r"}}, []string{"mysqld", "mysqladmin"}, 3306, nil,
			map[string]string{"logins": login("root", "r") + login("u", password)}},
		{gate.Service{Name: "m", Image: "mysql:8", Env: map[string]string{"MYSQL_ALLOW_EMPTY_PASSWORD": "1"}},
			[]string{"mysqld", "mysqladmin"}, 3306, nil, map[string]string{"logins": login("root", "")}},
		{gate.Service{Name: "m", Image: "mysql:8"}, []string{"mysqld"}, 3306, nil, nil}, // without a client program
	} {
		bin, dir := installed(t, c.programs...), t.TempDir()
		s := find([]gate.Service{c.wanted}, []string{bin}, true)
		if len(s.Missing) > 0 || len(s.servers) != 1 || s.servers[0].Ports[0] != c.port {
			t.Errorf("%s: %+v", c.wanted.Image, s)
			continue
		}
		sv := s.servers[0]
		script := exec.CommandContext(t.Context(), "/bin/sh", "-c", sv.Script)
		script.Env = append([]string{"PATH=" + os.Getenv("PATH")}, sv.Env...)
		for i, e := range script.Env {
			script.Env[i] = strings.ReplaceAll(e, At+"/0", dir)
		}
		if out, err := script.CombinedOutput(); err != nil {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Errorf("%s: %v\n%s\n%s", c.wanted.Image, err, out, log)
			continue
		}
		conn, err := net.Dial("unix", strings.ReplaceAll(sv.Socket, At+"/0", dir)) // ends it
		if err != nil {
			t.Error(err)
			continue
		}
		conn.Close()
		args, err := os.ReadFile(filepath.Join(dir, "args"))
		for _, want := range c.args {
			if !strings.Contains(string(args), strings.ReplaceAll(want, "DIR", dir)) || err != nil {
				t.Errorf("%s: %q without %q: %v", c.wanted.Image, args, want, err)
			}
		}
		for name, want := range c.files {
			got, err := os.ReadFile(filepath.Join(dir, name))
			if want = strings.ReplaceAll(want, "DIR", dir); string(got) != want || err != nil {
				t.Errorf("%s: %s is %q, not %q: %v", c.wanted.Image, name, got, want, err)
			}
		}
	}
}

// TestNotInstalled tests that a missing server is named, with the consequences.
func TestNotInstalled(t *testing.T) {
	for image, title := range map[string]string{"redis:7": "Redis", "mariadb": "MariaDB",
		"ghcr.io/o/memcached": "memcached", "valkey/valkey:8@sha2": "Redis"} {
		want := title + " isn't installed where SIA runs: tests that need the service s (" + image + ") can't run here."
		k, _, tag, known := kindOf(image)
		if !known || k.program([]string{t.TempDir()}, tag) != "" {
			t.Errorf("%s: %v", image, known)
		}
		if _, why := evaluate(gate.Service{Name: "s", Image: image}, []string{t.TempDir()}, true); why != want {
			t.Errorf("%s: %q", image, why)
		}
	}
}

// TestRefusedForTheSameReason tests that of several unusable variables the same is named each time.
func TestRefusedForTheSameReason(t *testing.T) {
	env := map[string]string{}
	for i := range 20 {
		env[fmt.Sprintf("LINES_%02d", i)] = "a\nb"
	}
	folder := installed(t, "redis-server")
	for range 20 {
		_, why := evaluate(gate.Service{Name: "s", Image: "redis", Env: env}, []string{folder}, true)
		if !strings.Contains(why, "LINES_00 holds a line break") {
			t.Fatalf("%q", why)
		}
	}
}

// TestHostPorts tests the ports at which a job's steps reach a service.
func TestHostPorts(t *testing.T) {
	for ports, want := range map[string]string{
		"5432": "[5432]", "5432/tcp": "[5432]", "15432:5432": "[15432]", "127.0.0.1:15432:5432/tcp": "[15432]",
		"5432/udp": "[]", "5000-5010:5000-5010": "[]", "${{ matrix.port }}:5432": "[5432]", "6000:6000": "[6000]",
		"8025:8025 15432:5432 15432:5432": "[15432]", "": "[]",
	} {
		if got, why := hostPorts(strings.Fields(ports), 5432); fmt.Sprint(got) != want || why != "" {
			t.Errorf("%s: %v %s", ports, got, why)
		}
	}
}

// TestVersions tests that the version in the tag is chosen, or else the newest.
func TestVersions(t *testing.T) {
	dir := t.TempDir()
	for _, v := range []string{"9.6", "15", "16"} {
		bin := filepath.Join(dir, "postgresql", v, "bin")
		if err := os.MkdirAll(bin, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(bin, "initdb"), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	folders := []string{filepath.Join(dir, "postgresql", "*", "bin")}
	for image, want := range map[string]string{"postgres:15-alpine": "15", "postgres:9": "9.6", "postgres": "16",
		"postgres:17": "16", "postgis/postgis:15-3.4": "15"} {
		k, _, tag, _ := kindOf(image)
		if got := k.program(folders, tag); got != filepath.Join(dir, "postgresql", want, "bin", "initdb") {
			t.Errorf("%s: %s", image, got)
		}
	}
}
