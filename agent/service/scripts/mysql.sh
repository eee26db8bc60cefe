# Starts MariaDB or MySQL in the folder DIR. It is killed with its sandbox, and recovers at the next start.
mkdir -p "$DIR" && cd "$DIR" || exit
exec > "$DIR/log" 2>&1
set -eu
umask 077
version=$("$BIN" --no-defaults --version)
if [ ! -e made ]; then
    rm -rf data
    case $version in
    *MariaDB*)
        "$(dirname "$BIN")/../bin/mariadb-install-db" --no-defaults --datadir="$DIR/data" --skip-test-db \
            --auth-root-authentication-method=normal
        ;;
    *) "$BIN" --no-defaults --initialize-insecure --datadir="$DIR/data" ;;
    esac
    : > made
fi
rm -rf run
mkdir run
printf '%s\n' "$SQL" > init.sql
"$BIN" --no-defaults --datadir="$DIR/data" --socket="$DIR/run/mysql.sock" --pid-file="$DIR/run/pid" --skip-networking \
    --loose-mysqlx=OFF --init-file="$DIR/init.sql" --innodb-flush-log-at-trx-commit=2 --innodb-buffer-pool-size=64M &
until [ -S run/mysql.sock ]; do
    kill -0 $!
    sleep 0.1
done
case $version in *MariaDB*) exit ;; esac

# MySQL requires the full password at the first login of each account. Without TLS, a client sends it in the clear only
# over a socket, and encrypted only over TCP. Clients connect by TCP, but the server sees a socket, so that neither works.
# The server remembers the accounts that have logged in.
login() {
    "$(dirname "$BIN")/../bin/mysqladmin" --no-defaults --socket="$DIR/run/mysql.sock" --connect-timeout=60 --user="$1" \
        --password="$2" ping || :
}
login root "$ROOT_PASSWORD"
[ -z "$USER" ] || login "$USER" "$PASSWORD"
