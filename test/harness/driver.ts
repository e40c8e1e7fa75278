/**
 * A suite that runs inside the extension host can neither click in a webview nor take a picture: it asks this
 * small server on loopback, which has the page. One POST a request: `{op, ...}` in, `{value}` or `{error}` out.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator, Page } from 'playwright-core';
import { shot, webviewWith } from './page';

export interface DriverRequest {
  op:
    | 'click'
    | 'hover'
    | 'focus'
    | 'text'
    | 'texts'
    | 'count'
    | 'attribute'
    | 'press'
    | 'type'
    | 'screenshot';
  selector?: string;
  /** True: look for `selector` in the webviews, not in the workbench. */
  webview?: boolean;
  key?: string;
  text?: string;
  name?: string;
}

/** Serves `page` until `close`; `shots` is the folder for pictures. */
export async function serveDriver(page: () => Page, shots: string) {
  const find = async ({ selector, webview }: DriverRequest): Promise<Locator> => {
    if (!selector) throw new Error('this operation needs a selector');
    return webview ? (await webviewWith(page(), selector)).locator(selector) : page().locator(selector);
  };
  const timeout = { timeout: 20_000 };
  const operations: Record<DriverRequest['op'], (r: DriverRequest) => Promise<unknown>> = {
    click: async (r) => click(page(), (await find(r)).first()),
    hover: async (r) => (await find(r)).first().hover(timeout),
    focus: async (r) => (await find(r)).first().focus(timeout),
    text: async (r) => (await find(r)).first().textContent(timeout),
    texts: async (r) => (await find(r)).allTextContents(),
    count: async (r) => (await find(r)).count(),
    attribute: async (r) => (await find(r)).first().getAttribute(r.name ?? '', timeout),
    press: async (r) => page().keyboard.press(r.key ?? ''),
    type: async (r) => page().keyboard.type(r.text ?? ''),
    screenshot: async (r) => shot(page(), shots, r.name ?? 'shot'),
  };
  const server = http.createServer(async (request, response) => {
    try {
      let body = '';
      for await (const part of request) body += part;
      const asked = JSON.parse(body) as DriverRequest;
      response.end(JSON.stringify({ value: (await operations[asked.op](asked)) ?? null }));
    } catch (error) {
      response.end(JSON.stringify({ error: (error as Error).message }));
    }
  });
  await new Promise<void>((ok) => server.listen(0, '127.0.0.1', ok));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

/** A tooltip of where the pointer was may lie over what is to be clicked: it goes when the pointer does. */
async function click(page: Page, target: Locator): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await target.click({ timeout: 5000 });
    } catch (error) {
      if (attempt === 3) throw error;
      await page.mouse.move(1, 1);
      await page.waitForTimeout(500);
    }
  }
}
