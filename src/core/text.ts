/** Text from models, tools and servers, made safe to show: nothing in it can move a cursor, reorder or hide. */

/** Control, bidirectional and zero-width characters as `\xNN` or `\uNNNN`; line ends and tabs stay. */
export function printable(text: string): string {
  return text.replace(
    /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (letter) => (letter === '\t' ? '\t' : escapeOf(letter.charCodeAt(0))),
  );
}

/** `printable` on one line: line ends as `\n`, tabs as `\t`. */
export function escaped(text: string): string {
  return printable(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

function escapeOf(code: number): string {
  return code < 0x100
    ? `\\x${code.toString(16).padStart(2, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`;
}
