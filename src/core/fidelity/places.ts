/** Paths as nodes that are made once: the same few hundred paths come up in every pair of a tool. */
import { pathStep } from '../jsonpath';

export class PathNode {
  private readonly names = new Map<string, PathNode>();
  private readonly items: (PathNode | undefined)[] = [];

  private constructor(
    /** `$.items[0].price` */
    readonly path: string,
    /** `$.items[*].price` */
    readonly field: string,
  ) {}

  static root(): PathNode {
    if (made > KEPT) {
      root = null;
      made = 0;
    }
    root ??= new PathNode('$', '$');
    return root;
  }

  name(name: string): PathNode {
    const known = this.names.get(name);
    if (known) return known;
    const step = pathStep(name);
    const node = new PathNode(this.path + step, this.field + step);
    made++;
    this.names.set(name, node);
    return node;
  }

  item(index: number): PathNode {
    const known = this.items[index];
    if (known) return known;
    const node = new PathNode(`${this.path}[${index}]`, `${this.field}[*]`);
    made++;
    this.items[index] = node;
    return node;
  }
}

const KEPT = 50_000;
let root: PathNode | null = null;
let made = 0;
