/** The variables that are read, as `help environment` prints them. */
export const ENVIRONMENT_TOPIC = `Environment

  PROMPTRUN_BASE_URL    the service's address; /v1 is added where it is missing
  PROMPTRUN_API_KEY     the key to send there
  PROMPTRUN_PROFILE     the profile to use
  PROMPTRUN_CONFIG_DIR  where profiles, keys, settings and caches are kept
  PROMPTRUN_DATA_DIR    where the local service keeps prompts, runs and media
  PROMPTRUN_STATE_DIR   where the journal of runs is kept
  NO_COLOR              no colours, whatever its value
  FORCE_COLOR           colours even in a pipe: 1, 2 or 3; 0 for none
  ACCESSIBLE            plain lines instead of spinners, drawn questions and pictures
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                        the proxy for requests, and the hosts reached without it
  NODE_EXTRA_CA_CERTS   a file with further certificate authorities to trust
  CI                    nothing is asked
  PAGER                 what shows long results on a terminal; cat for none

The local service also reads OPENAI_API_KEY and OPENAI_BASE_URL.

Flags win over the environment, the environment over the profile. --profile wins over PROMPTRUN_BASE_URL and
PROMPTRUN_API_KEY. A profile's stored key is only sent to that profile's origin: with another base URL the key must
come from PROMPTRUN_API_KEY. With nothing configured, the local service built in is used (profile local).
`;
