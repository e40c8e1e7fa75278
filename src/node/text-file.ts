/** Text files of people: what is read as one, and what to do about what cannot be. */
import fs from 'node:fs/promises';

/** Why a file is not what was wanted, as part of a sentence, and what to do about it. */
export class UnusableFile extends Error {
  constructor(
    why: string,
    readonly next: string,
  ) {
    super(why);
  }
}

/** Far more than people write; a file that is larger is not what it was taken for. */
const MOST_MIB = 64;

/** Text of a regular file of moderate size, in UTF-8; rejects with the reason. */
export async function readText(file: string): Promise<string> {
  // Without waiting for whoever should write into a pipe.
  const handle = await fs.open(file, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
  let data: Buffer;
  try {
    const stat = await handle.stat();
    if (stat.isDirectory()) throw new UnusableFile('it is a folder', 'Name a file that is in it.');
    if (!stat.isFile()) throw new UnusableFile('it is no regular file', 'Name a file on a disk.');
    if (stat.size > MOST_MIB << 20)
      throw new UnusableFile(
        `it is larger than ${MOST_MIB} MiB`,
        'Name the file that was meant, or keep less in this one.',
      );
    data = await handle.readFile();
  } finally {
    await handle.close();
  }
  return decoded(data);
}

const DECODER = new TextDecoder('utf-8', { fatal: true });
const AS_UTF8 = 'Save it as UTF-8 (an editor has "Save with Encoding").';

function decoded(data: Buffer): string {
  if (isUtf16(data)) throw new UnusableFile('it is UTF-16 text, not UTF-8', AS_UTF8);
  try {
    return DECODER.decode(data);
  } catch {
    throw new UnusableFile('it is not UTF-8 text', AS_UTF8);
  }
}

/** By its byte order mark, or by the half of a character that is zero in the text of a JSON file. */
function isUtf16(data: Buffer): boolean {
  const [first, second] = data;
  const marked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return marked || (data.length > 1 && (first === 0) !== (second === 0));
}

/** Why a file cannot be read, as part of a sentence. */
export function whyOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'you have no right to read it';
  return message;
}
