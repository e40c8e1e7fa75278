/** What can be done with all calls of the tool that is looked at. */
import type { ToolView } from '../../src/core/fidelity/view.types';
import type { FromCompare } from '../common/compare';
import { el } from '../common/dom';
import { button } from '../common/toolkit';

export class ToolBar {
  readonly element = el('div', { class: 'toolbar', hidden: true });

  constructor(private readonly post: (message: FromCompare) => void) {}

  /** @param at the field that is looked at, if any, and the model whose calls are shown */
  update(tool: Pick<ToolView, 'tool' | 'recordable'> | null, at: { field?: string; side: number }): void {
    const { post, element } = this;
    element.hidden = !tool;
    element.replaceChildren();
    if (!tool) return;
    const { field, side } = at;
    if (tool.recordable > 0)
      element.append(
        button({
          label:
            tool.recordable === 1
              ? 'Record the Real Answer That Differs'
              : `Record the ${tool.recordable} Real Answers That Differ`,
          icon: 'save-all',
          onClick: () => post({ type: 'recordAll', tool: tool.tool, side }),
        }),
      );
    if (field !== undefined && field !== '$')
      element.append(
        button({
          label: 'Ignore This Field',
          icon: 'eye-closed',
          onClick: () => post({ type: 'ignore', path: field }),
        }),
      );
    element.append(
      button({
        label: 'Go to Tool',
        icon: 'go-to-file',
        look: 'quiet',
        onClick: () => post({ type: 'tool', tool: tool.tool }),
      }),
    );
  }
}
