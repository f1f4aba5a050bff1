import packageJson from '../../../package.json' with { type: 'json' };

/** What every request to a provider says of who sends it. */
export const USER_AGENT = `promptrun/${packageJson.version}`;
