/** The judge of the settings, for tests: the same one as long as nothing of it changes, so that it is not asked twice. */
import type * as vscode from 'vscode';
import { createJudge, type Judge } from '../../node/judge/judge';
import type { Config } from '../config';
import { BearerTokens } from '../server/bearer-tokens';

const TIMEOUT_SECONDS = 60;

export class Judges {
  private known: { key: string; judge: Judge } | null = null;
  private readonly tokens: BearerTokens;

  constructor(
    private readonly config: Config,
    secrets: vscode.SecretStorage,
  ) {
    this.tokens = new BearerTokens(secrets);
  }

  /** Undefined where the settings name none: `judge` checks are then unscored. */
  async current(): Promise<Judge | undefined> {
    const { judge: named } = this.config;
    if (!named) return undefined;
    const { address: url, model } = named;
    const apiKey = await this.tokens.get(url);
    const key = JSON.stringify([url, model, apiKey ?? null]);
    if (this.known?.key !== key) {
      const judge = createJudge({
        url,
        model,
        timeoutSeconds: TIMEOUT_SECONDS,
        ...(apiKey ? { apiKey } : {}),
      });
      this.known = { key, judge };
    }
    return this.known.judge;
  }
}
