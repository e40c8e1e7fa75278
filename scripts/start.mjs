// `npm start`: from a fresh clone to a rehearsal. This file keeps to syntax that old Nodes can read, so that they
// get a sentence and not a stack trace; everything else is imported only once the version is known to do.
const MINIMUM_NODE = 20;
const major = Number(process.versions.node.split('.')[0]);
if (major < MINIMUM_NODE) {
  console.error(
    `Rehearsal Studio needs Node ${MINIMUM_NODE} or newer, and this is ${process.version}.\n` +
      'Install a newer one (nodejs.org, nvm, your package manager) and run npm start again.',
  );
  process.exit(1);
}
import('./start/bootstrap.mjs').then(({ start }) => start(process.argv.slice(2)));
