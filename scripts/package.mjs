/** `npm run package`: writes `rehearsal-studio-<version>.vsix`. */
import { ensureDependencies } from './lib/dependencies.mjs';

await ensureDependencies(console.log);
const { makePackage } = await import('./lib/package.mjs');
const { file, size } = await makePackage();
console.log(`${file} (${(size / 1e6).toFixed(1)} MB)`);
