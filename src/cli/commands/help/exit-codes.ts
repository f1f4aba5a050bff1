/** The table of exit codes, as `help exit-codes` prints it. */
export const EXIT_CODES_TOPIC = `Exit codes

  0    done; the run succeeded (runs get of one that still runs: 0 as well)
  1    a fault outside of your hands: network, server, an answer that is no valid envelope
  2    wrong use: flag, argument, input, configuration; 400 and 422 from the service
  3    not authorised: no key, 401, 402
  4    not found: 404, 410; nothing in the journal for --last; nothing held for --cached
  5    the run failed, or some rows of a batch did
  6    gave up waiting; the run goes on
  7    rate limited (429) after all retries
  130  ended by Ctrl-C
  143  ended by SIGTERM

An empty list is a success. With --json an error is one line of JSON on standard error:
  {"status": "NOT_FOUND_ERROR", "message": "…", "data": null, "exitCode": 4}
Where the fault is not the service's, status is USAGE_ERROR, CONFIG_ERROR, NETWORK_ERROR, PROTOCOL_ERROR,
WAIT_TIMEOUT, INTERRUPTED, FILE_ERROR or INTERNAL_ERROR.
`;
