/** The webview's end of the message protocol: typed, and validated on receipt. */

interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

/** A validator as `scripts/generate.ts` writes it (ajv standalone). */
export interface Validator<T> {
  (message: unknown): message is T;
  errors?: { instancePath: string; message?: string }[] | null;
}

export interface Host<Out> {
  post(message: Out): void;
  /** What `setState` was given last, also after the panel was closed with the window. */
  getState(): unknown;
  setState(state: unknown): void;
}

/**
 * Connects to the extension. A message that does not fit goes to `onInvalid` with the reason, and is otherwise
 * ignored: the panel goes on showing what it had.
 */
export function connect<In, Out>(
  validate: Validator<In>,
  onMessage: (message: In) => void,
  onInvalid: (reason: string) => void,
): Host<Out> {
  const api = acquireVsCodeApi();
  window.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (validate(data)) onMessage(data);
    else {
      const error = validate.errors?.[0];
      onInvalid(`${error?.instancePath || 'message'} ${error?.message ?? 'is not known'}`);
    }
  });
  return {
    post: (message) => api.postMessage(message),
    getState: () => api.getState(),
    setState: (state) => api.setState(state),
  };
}
