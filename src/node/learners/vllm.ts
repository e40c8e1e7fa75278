/** vLLM as the sampler of a run: it takes our engine's adapter after each step, under a name that stays. */
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
    const folder = await learner.toFolder('vllm');
    // In place: vLLM drops what it cached under the adapter's name before.
    await this.post('load_lora_adapter', { lora_name: name, lora_path: folder, load_inplace: true });
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

function reasonIn(text: string): string {
  try {
    const value = JSON.parse(text);
    const said = value.error?.message ?? value.message ?? value.detail;
    return typeof said === 'string' ? said : text;
  } catch {
    return text;
  }
}
