/** The beginning of a large value as text, made without making the whole text. */
import { isObject, type Json } from './json';

export interface Preview {
  text: string;
  /** Whether there is more. */
  cut: boolean;
}

/** JSON of a value with an indent of two, as far as `limit` UTF-16 units. Costs by what it shows, not by the value. */
export function previewJson(value: Json, limit: number): Preview {
  const writer = new Writer(limit);
  writer.value(value, '');
  return { text: writer.text.slice(0, limit), cut: writer.text.length > limit || writer.full };
}

class Writer {
  text = '';
  full = false;

  constructor(private readonly limit: number) {}

  value(value: Json, indent: string): void {
    if (Array.isArray(value))
      this.group('[', ']', value.length, indent, (write) => value.every((item) => write('', item)));
    else if (isObject(value)) {
      // Object.keys of a large object costs; `for in` would walk prototypes.
      const keys = Object.keys(value);
      this.group('{', '}', keys.length, indent, (write) =>
        keys.every((key) => write(`${JSON.stringify(key.slice(0, this.limit))}: `, value[key]!)),
      );
    } else if (typeof value === 'string') this.string(value);
    else this.text += JSON.stringify(value);
    if (this.text.length >= this.limit) this.full = this.full || this.text.length > this.limit;
  }

  private string(value: string): void {
    const room = Math.max(0, this.limit - this.text.length);
    if (value.length <= room) this.text += JSON.stringify(value);
    else {
      this.text += JSON.stringify(value.slice(0, room)).slice(0, -1);
      this.full = true;
    }
  }

  private group(
    open: string,
    close: string,
    count: number,
    indent: string,
    each: (write: (name: string, item: Json) => boolean) => boolean,
  ): void {
    if (count === 0) {
      this.text += open + close;
      return;
    }
    const inner = `${indent}  `;
    let first = true;
    this.text += open;
    const complete = each((name, item) => {
      if (this.full || this.text.length >= this.limit) {
        this.full = true;
        return false;
      }
      this.text += `${first ? '' : ','}\n${inner}${name}`;
      first = false;
      this.value(item, inner);
      return true;
    });
    if (complete && !this.full) this.text += `\n${indent}${close}`;
  }
}
