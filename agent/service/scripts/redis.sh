# Starts Redis or Valkey in the folder DIR, without persistence.
mkdir -p "$DIR" && cd "$DIR" || exit
exec > "$DIR/log" 2>&1
set -eu
rm -rf run
mkdir run
"$BIN" --port 0 --unixsocket "$DIR/run/redis.sock" --dir "$DIR/run" --save '' --appendonly no \
    ${PASSWORD:+--requirepass "$PASSWORD"} &
until [ -S run/redis.sock ]; do
    kill -0 $!
    sleep 0.05
done
