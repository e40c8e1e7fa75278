/** vLLM as the sampler of a run: it takes our engine's adapter after each step, under a name that stays. */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { reasonOf, UserError } from '../../core/user-error';
import { errors, oneLine } from '../errors';
import type { TinkerLearner } from './learner';

export interface VllmAddress {
  baseUrl: string;
  apiKey?: string;
  fetch?: typeof globalThis.fetch;
}

const HOW =
  'Start vLLM with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True, on a machine that sees the folder of runs.';

export class VllmSampler {
  private readonly url: string;

  constructor(private readonly options: VllmAddress) {
    this.url = options.baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
  }

  /**
   * Gives it the learner's weights as they are now. Returns the model that samples with them: always the same for one
   * name. Nothing may be sampling with it meanwhile.
   */
  async take(learner: Pick<TinkerLearner, 'toFolder'>, name: string): Promise<string> {
    // It finds the keys and values that it cached by the adapter's name and path: under the path of the weights
    // before, it would go on from theirs.
    const folder = await learner.toFolder(`vllm-${randomUUID().slice(0, 8)}`);
    await this.post('load_lora_adapter', { lora_name: name, lora_path: folder, load_inplace: true });
    removeEarlier(folder);
    return name;
  }

  /** Lets it forget the adapter. */
  async drop(name: string): Promise<void> {
    await this.post('unload_lora_adapter', { lora_name: name });
  }

  private async post(route: string, body: Record<string, unknown>): Promise<void> {
    const { apiKey } = this.options;
    let response: Response;
    try {
      response = await (this.options.fetch ?? fetch)(`${this.url}/v1/${route}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
        },
        body: JSON.stringify(body),
      });
    } catch (error) {
      throw errors.refused(this.url, error);
    }
    if (response.ok) return;
    if (response.status === 401) throw errors.unauthorized(this.url);
    const said = reasonIn(await response.text());
    const why = said ? `: ${reasonOf(oneLine(said))}` : ` (status ${response.status})`;
    throw new UserError(`The sampler at ${this.url} does not take the adapter${why}.`, HOW);
  }
}

/** Adapters of the steps before, beside the one that was taken; where the folder is on another machine, they stay. */
function removeEarlier(folder: string): void {
  const [parent, own] = [path.dirname(folder), path.basename(folder)];
  const suffix = own.replace(/^vllm-[0-9a-f]{8}/, '');
  if (suffix === own || !fs.existsSync(folder)) return;
  for (const name of fs.readdirSync(parent)) {
    const earlier = /^vllm-[0-9a-f]{8}/.test(name) && name.slice('vllm-'.length + 8) === suffix;
    if (earlier && name !== own) fs.rmSync(path.join(parent, name), { recursive: true, force: true });
  }
}

function reasonIn(text: string): string {
  try {
    const value = JSON.parse(text);
    const said = value.error?.message ?? value.message ?? value.detail;
    return typeof said === 'string' ? said : text;
  } catch {
    return text;
  }
}
