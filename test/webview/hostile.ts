/** What a model may write to break a page that shows it. */
import { Story } from './story';

export const HTML = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>';
export const ANSI = '\u001b[31mred\u001b[0m \u202egnp.exe';

export async function hostileStory(): Promise<Story> {
  const call = `<tool_call>\n{"name": "get_order_details", "arguments": {"order_id": "${'<b>#W1</b>'}"}}\n</tool_call>`;
  const acts = [
    { when: /Check order/, write: [call] },
    { when: /./s, write: [`${HTML} ${ANSI}`] },
  ];
  const rehearsals = [{ when: /./s, write: [`no answer at all ${HTML} ${ANSI}`] }];
  return new Story(acts, rehearsals, {}, { instruction: `Check order ${HTML}` }).end();
}
