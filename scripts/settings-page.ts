/** `docs/settings.md`, from the settings that package.json contributes. */

interface Setting {
  type: string;
  default: unknown;
  markdownDescription: string;
  scope?: string;
  minimum?: number;
  maximum?: number;
  enum?: string[];
  enumDescriptions?: string[];
  order: number;
}

export interface SettingsSection {
  title: string;
  properties: Record<string, Setting>;
}

const SCOPES: Record<string, string> = {
  machine: "a machine's (user or remote settings), not a workspace's",
  'machine-overridable': "a machine's; a trusted workspace may say otherwise",
};

export function settingsPage(sections: readonly SettingsSection[]): string {
  const parts = sections.map(({ title, properties }) => {
    const settings = Object.entries(properties).sort(([, a], [, b]) => a.order - b.order);
    return `## ${title}\n\n${settings.map(([name, setting]) => settingText(name, setting)).join('\n\n')}`;
  });
  return `# Settings

What the extension can be told in VS Code's settings (search for \`rehearsal\`). Every one has a default that works. The command line has options instead (\`docs/cli.md\`), a training run its file (\`docs/training-file.md\`).

<!-- Made from package.json by the build. -->

${parts.join('\n\n')}
`;
}

function settingText(name: string, setting: Setting): string {
  const { type, default: standard, markdownDescription, scope, minimum, maximum } = setting;
  const range = minimum !== undefined && maximum !== undefined ? `, ${minimum} to ${maximum}` : '';
  const facts = [
    `${type}${range}`,
    `default ${standard === '' ? 'empty' : `\`${JSON.stringify(standard)}\``}`,
    ...(scope ? [SCOPES[scope] ?? scope] : []),
  ];
  const values = (setting.enum ?? []).map(
    (value, index) => `\n- \`${value}\`: ${setting.enumDescriptions?.[index] ?? ''}`,
  );
  return `### \`${name}\`\n${markdownDescription.replace(/`#(.+?)#`/g, '`$1`')}\n\n*${facts.join('; ')}*${values.length ? `\n${values.join('')}` : ''}`;
}
