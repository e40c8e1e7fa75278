/** The model as the evaluation sees it: chats in, texts out, by plain `transformers` in a Python process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Json } from '../../../src/core/json';
import type { ChatMessage } from '../corpus/documents';

export interface Prompt {
  messages: ChatMessage[];
  tools?: Json[];
}

export class Model {
  private readonly process: ChildProcess;
  private readonly answers: AsyncIterator<string>;

  constructor(
    python: string,
    checkpoint: string,
    private readonly temperature: number,
    private readonly seed: number,
  ) {
    const script = fileURLToPath(new URL('../generate.py', import.meta.url));
    this.process = spawn(python, [script, checkpoint], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.answers = createInterface({ input: this.process.stdout! })[Symbol.asyncIterator]();
  }

  /** What the model writes after each prompt, before its end token. */
  async write(prompts: readonly Prompt[]): Promise<string[]> {
    if (!prompts.length) return [];
    const request = { prompts, temperature: this.temperature, seed: this.seed, max_tokens: 200 };
    this.process.stdin!.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await this.answers.next();
    if (done) throw new Error('The Python process ended. Its message stands above.');
    return (JSON.parse(value) as { texts: string[] }).texts;
  }

  close(): void {
    this.process.stdin!.end();
  }
}
