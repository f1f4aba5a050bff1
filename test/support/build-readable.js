// Builds the command without shortening it, into the directory given: its bundles then name the files they come from.
import { bundleCommand } from '../../scripts/bundles.js';

await bundleCommand(process.argv[2], { minify: false });
