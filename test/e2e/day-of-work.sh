#!/usr/bin/env bash
# A day's work of a script: search, get, run, save, list, page, react to each exit code.
# Takes PROMPTRUN (the command), PROMPTRUN_BASE_URL and PROMPTRUN_API_KEY from the environment.
set -euo pipefail

promptrun() { node "$PROMPTRUN" "$@"; }
fail() { echo "not as expected: $*" >&2; exit 99; }
equal() { [ "$1" = "$2" ] || fail "'$1' is not '$2' ($3)"; }
exits() { # exits CODE COMMAND...
  local expected=$1 code=0
  shift
  "$@" >exits.out 2>exits.err || code=$?
  equal "$code" "$expected" "exit code of: $*; it said: $(cat exits.err)"
}

started=$(node -p 'new Date(Date.now() - 3_600_000).toISOString()')

echo 'search'
prompt=$(promptrun prompts search postcard --query '[0].promptId')
version=$(promptrun prompts search postcard | cut -f 2 | head -n 1)
equal "$(promptrun prompts get "$prompt" --query promptVersionId)" "$version" 'search and get name the same version'
equal "$(promptrun versions list "$prompt" --query '[?isLatest].promptVersionId | [0]')" "$version" 'the latest version'
equal "$(promptrun versions get "$version" --query promptId)" "$prompt" 'the prompt of the version'
equal "$(promptrun resources list --modality image --query '[0].model')" card 'the image model'

echo 'run'
equal "$(promptrun run hello -i name=Ada)" "$(promptrun run hello --json --input name=Ada --query 'outputs[0].data')" 'text and JSON'
printf '{"name": "Grace"}' | promptrun run hello --inputs - | grep -q Grace || fail 'inputs from standard input'
printf 'Linus' >name.txt
promptrun run hello -i name=@name.txt | grep -q Linus || fail 'an input from a file'

echo 'save'
promptrun run "$version" -i place=Oslo -i mood=rainy --save pictures >saved.txt
picture=$(tail -n 1 saved.txt)
equal "$(head -c 4 "$picture" | tail -c 3)" PNG 'a picture'
id=$(basename "$picture" -1.png)
equal "$(promptrun runs get "$id" --query runStatus)" succeeded 'the saved run'
promptrun runs save "$id" --to again >/dev/null
cmp "$picture" "again/$id-1.png"
promptrun run describe --image "$picture" >description.txt
[ -s description.txt ] || fail 'a description'

echo 'page through 120 runs'
for i in $(seq 120); do printf '{"name":"n%d"}\n' "$i"; done >names.jsonl
promptrun batch hello --from names.jsonl --out results.jsonl --rate 0 --concurrency 8
equal "$(grep -c '"succeeded"' results.jsonl)" 120 'rows that succeeded'
equal "$(promptrun runs list --limit 120 --json --query 'length(@)')" 120 'rows of a long list'
promptrun runs list --all --since "$started" --ndjson >all.ndjson
[ "$(wc -l <all.ndjson)" -ge 125 ] || fail 'all runs since an hour ago'
equal "$(cut -d '"' -f 4 all.ndjson | sort -u | wc -l)" "$(wc -l <all.ndjson)" 'no run twice'
cursor=''
pages=0
while :; do
  page=$(promptrun api GET '/runs' -f limit=50 ${cursor:+-f startingAfter="$cursor"})
  pages=$((pages + 1))
  read -r cursor has_more < <(node -p 'const { data } = JSON.parse(process.argv[1]); `${data.rows.at(-1).runId} ${data.hasMore}`' "$page")
  [ "$has_more" = true ] || break
done
equal "$pages" 3 'pages of 50'
promptrun runs list --status succeeded | head -n 1 >first.tsv

echo 'react to each exit code'
exits 0 promptrun run sandbox -o outcome=partial
exits 5 promptrun run sandbox -o outcome=failed
exits 2 promptrun run hello
grep -q name exits.err || fail 'the missing input is named'
exits 4 promptrun run nothing-like-this
exits 3 env PROMPTRUN_API_KEY=wrong node "$PROMPTRUN" runs list
exits 1 env PROMPTRUN_BASE_URL=http://127.0.0.1:9/v1 node "$PROMPTRUN" run "$version" -i place=Oslo
exits 6 promptrun run sandbox -o delaySeconds=30 --timeout 5s
promptrun run hello -i name=Ada >/dev/null
promptrun runs wait --last >/dev/null
equal "$(promptrun account --query credits | grep -cE '^[0-9]+$')" 1 'credits left'
echo 'done'
