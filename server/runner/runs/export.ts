/** A checkpoint as a folder that other programs load: a PEFT adapter, or a whole Hugging Face model. */
import fs from 'node:fs';
import path from 'node:path';
import type { RunStatus } from '../../../src/core/training/run.types';
import type { RunConfig } from '../../../src/core/training/types';
import { TinkerSession } from '../../../src/node/learners/tinker';
import { runErrors } from '../../../src/node/runs/errors';
import type { Address } from '../training/run';

export type ExportForm = 'peft' | 'merged';

export interface Exported {
  folders: string[];
  /** What to know of them, e.g. which programs cannot load them. */
  notes: string[];
}

/** Throws `NodeError` or `UserError`. The folder is made; one that has something in it is refused. */
export async function exportCheckpoint(
  { status, config, step }: { status: RunStatus; config: RunConfig; step: number },
  form: ExportForm,
  folder: string,
  engine: (signal: AbortSignal) => Promise<Address>,
  signal: AbortSignal,
): Promise<Exported> {
  const { id, checkpoints } = status;
  const found = checkpoints.find((one) => one.step === step && one.kept);
  const kept = checkpoints.filter((one) => one.kept && one.addresses).map((one) => one.step);
  if (!found?.addresses)
    throw runErrors.state(
      id,
      `has no checkpoint of step ${step}`,
      kept.length ? `There are those of steps ${kept.join(', ')}.` : 'None is kept yet.',
    );
  if (form === 'peft' && config.settings.weights === 'full')
    throw runErrors.state(id, 'trained every weight and has no adapter', 'Export the merged model.');
  if (config.settings.learner.kind !== 'engine')
    throw runErrors.state(id, 'keeps its weights on another server', 'Export them there.');
  if (!path.isAbsolute(folder)) throw runErrors.request('the folder is no absolute path');
  const there = fs.statSync(folder, { throwIfNoEntry: false });
  if (there && (!there.isDirectory() || fs.readdirSync(folder).length)) {
    const what = there.isDirectory() ? 'is not empty' : 'is no folder';
    throw runErrors.state(id, `was not exported: ${folder} ${what}`, 'Name an empty or a new folder.');
  }
  const { baseUrl, apiKey } = await engine(signal);
  const session = await TinkerSession.open({ baseUrl, apiKey: `tml-${apiKey}` }, signal);
  try {
    const entries = Object.entries(found.addresses);
    const folders: string[] = [];
    const notes = new Set<string>();
    for (const [adapter, address] of entries) {
      const to = entries.length === 1 ? folder : path.join(folder, adapter);
      const { note } = await session.export(
        { address, form: form === 'peft' ? 'adapter' : 'merged', folder: to },
        signal,
      );
      folders.push(to);
      if (note) notes.add(note);
    }
    return { folders, notes: [...notes] };
  } finally {
    await session.close();
  }
}
