/** What the browser workbench of `npm start` looks like the first time; whatever a person changes later stays. */
import fs from 'node:fs';
import path from 'node:path';

/** The examples, and nothing that belongs to another product or needs an account. */
const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'window.autoDetectColorScheme': true,
  'window.menuBarVisibility': 'compact',
  'debug.toolBarLocation': 'commandCenter', // floating, it lies over the name of the session's tab
  'chat.disableAIFeatures': true,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'git.openRepositoryInParentFolders': 'never',
  'remote.autoForwardPorts': false,
};

/** The page that asks for the password says where it stands. */
const LOGIN = {
  LOGIN_TITLE: '{{app}}',
  WELCOME: '{{app}}',
  LOGIN_BELOW: 'VS Code in your browser, on this machine.',
  LOGIN_PASSWORD: 'The password stands in the terminal, below the address.',
  PASSWORD_PLACEHOLDER: 'Password',
  SUBMIT: 'Open',
};

/** @param {string} dataDir of the workbench; a file of settings that is there is left alone */
export function writeSettings(dataDir) {
  const file = path.join(dataDir, 'User', 'settings.json');
  if (fs.existsSync(file)) return;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(SETTINGS, null, 2)}\n`);
}

/** @returns {string} the file with the words of the login page */
export function writeLogin(dataDir) {
  const file = path.join(dataDir, 'login.json');
  fs.mkdirSync(dataDir, { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(LOGIN, null, 2)}\n`);
  return file;
}
