/** Outputs of a rollout that extend one another are one sequence, in which only what was sampled is trained on. */
import { promptIds, tokensOf } from '../rehearsal/lists';
import type { Output, Role, State } from '../rehearsal/types';

/** An output as training sees it. */
export interface TrainedOutput {
  role: Role;
  /** Ids before its first token. */
  prompt: readonly number[];
  /** Its tokens; a null log-probability, or a token that was not sampled, is never trained on. */
  tokens: readonly { id: number; logprob: number | null; sampled: boolean }[];
  /** Added to the advantage of each token, e.g. −β(logp − logp_base). */
  terms?: readonly number[];
}

export interface Chain {
  role: Role;
  /** Prompt of the first output to the last token of the last. */
  ids: readonly number[];
  /** Each output with the place of its first token in `ids`. */
  outputs: readonly { output: TrainedOutput; at: number }[];
}

/** All outputs of a rollout that have tokens, in the order in which they were written. */
export function outputsOf(state: State): TrainedOutput[] {
  const outputs = state.turns.flatMap((turn) => [
    turn.act,
    ...turn.calls.flatMap((call) => (call.rehearsal ? [call.rehearsal] : [])),
  ]);
  return outputs.filter((output) => output.tokens).map(trainedOutput);
}

function trainedOutput(output: Output): TrainedOutput {
  const tokens = tokensOf(output.tokens).map(({ id, logprob, origin }) => ({
    id,
    logprob,
    sampled: origin === 'sampled',
  }));
  return { role: output.role, prompt: promptIds(output.prompt, null), tokens };
}

/** Chains of one rollout. An output joins the latest chain of its role that its prompt extends, else begins one. */
export function chainsOf(outputs: readonly TrainedOutput[]): Chain[] {
  const chains: { role: Role; ids: number[]; outputs: { output: TrainedOutput; at: number }[] }[] = [];
  for (const output of outputs) {
    const ids = output.tokens.map((token) => token.id);
    const joined = chains.findLast(
      (chain) => chain.role === output.role && startsWith(output.prompt, chain.ids),
    );
    const placed = { output, at: output.prompt.length };
    if (joined) {
      joined.ids = [...output.prompt, ...ids];
      joined.outputs.push(placed);
    } else chains.push({ role: output.role, ids: [...output.prompt, ...ids], outputs: [placed] });
  }
  return chains;
}

function startsWith(ids: readonly number[], start: readonly number[]): boolean {
  return start.length <= ids.length && start.every((id, i) => ids[i] === id);
}
