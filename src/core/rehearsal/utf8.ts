/** UTF-8 in plain TypeScript: core sees no TextDecoder. Invalid bytes become U+FFFD, one for each. */
export function decodeUtf8(bytes: readonly number[]): string {
  let text = '';
  for (let i = 0; i < bytes.length; ) {
    const first = bytes[i]!;
    const size = first < 0x80 ? 1 : first >> 5 === 6 ? 2 : first >> 4 === 14 ? 3 : first >> 3 === 30 ? 4 : 0;
    const rest = bytes.slice(i + 1, i + size);
    const whole = size > 0 && rest.length === size - 1 && rest.every((byte) => byte >> 6 === 2);
    const point = whole
      ? rest.reduce(
          (value, byte) => (value << 6) | (byte & 0x3f),
          size === 1 ? first : first & (0x7f >> size),
        )
      : -1;
    if (isScalar(point, size)) {
      text += String.fromCodePoint(point);
      i += size;
    } else {
      text += '\ufffd';
      i += 1;
    }
  }
  return text;
}

/** Not an overlong form, a surrogate, or beyond Unicode. */
function isScalar(point: number, size: number): boolean {
  const least = [0, 0, 0x80, 0x800, 0x10000][size] ?? Number.POSITIVE_INFINITY;
  return point >= least && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
}
