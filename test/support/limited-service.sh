#!/usr/bin/env bash
# Serves a data directory whose files can't grow beyond a limit, creates runs until one is refused, then reads.
# Prints one line for each answer of another kind than the one before.
set -euo pipefail
data=$1
here=$(cd "$(dirname "$0")" && pwd)
output=$(mktemp)
trap 'kill -9 "$server" 2>/dev/null || true; rm -f "$output"' EXIT
(
  ulimit -f 400 # KiB in bash
  trap '' XFSZ
  PROMPTRUN_DATA_DIR=$data exec node "$here/../../bin/promptrun.js" serve --port 0 --sync-window 5s >"$output" 2>/dev/null
) &
server=$!
until grep -q '^key: ' "$output"; do
  kill -0 "$server" # ends this script with the server
  sleep 0.05
done
url=$(sed -n 's/^listening on //p' "$output")
key=$(sed -n 's/^key: //p' "$output")
node --input-type=module - "$url" "$key" <<'NODE'
const [url, key] = process.argv.slice(2);
const headers = { authorization: `Bearer ${key}` };
const call = async (method, path, body) => {
  const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { http: answer.status, ...(await answer.json()) };
};
const { data } = await call('GET', '/prompts/publish?q=hello');
const { promptVersionId } = data.rows[0];
let last = '';
const tell = line => {
  if (line !== last) console.log(line);
  last = line;
};
for (let count = 0; count < 400; count += 1) {
  const { http, status } = await call('POST', '/runs', {
    promptVersionId,
    inputs: { textInputs: { name: 'x'.repeat(5000) } },
  });
  tell(http === 200 ? 'POST 200' : `POST ${http} ${status}`);
  if (http === 500) break;
}
tell(`GET ${(await call('GET', '/runs')).http}`);
NODE
